//! The metrics of calls. Their names and labels are those of go-grpc-prometheus and its kin, so dashboards that are made
//! for other gRPC servers show this one too.

use std::sync::OnceLock;

use tonic::Code;

use crate::{code_names::names, guard::methods::Method};
use utterd_telemetry::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry, by, histogram_by};

/// The number of status codes.
const CODES: usize = 17;

const LABELS: [&str; 4] = ["grpc_type", "grpc_service", "grpc_method", "grpc_code"];

/// The metrics of all calls.
pub(super) struct Meters {
    started: IntCounterVec,
    handled: IntCounterVec,
    handling: HistogramVec,
    /// By the number of the method; looking up labels takes as long as a small call.
    methods: Vec<OfMethod>,
}

/// The metrics of one method, each made when it is first needed.
#[derive(Default)]
struct OfMethod {
    started: OnceLock<IntCounter>,
    /// By the code.
    ended: [OnceLock<(IntCounter, Histogram)>; CODES],
}

impl Meters {
    pub(super) fn new() -> Self {
        let [kind, service, method, _] = LABELS;
        Self {
            started: by(&[kind, service, method], "grpc_server_started_total", "Calls that arrived."),
            handled: by(&LABELS, "grpc_server_handled_total", "Calls that ended, by their status."),
            handling: histogram_by(
                &LABELS,
                "grpc_server_handling_seconds",
                "How long calls take, from their arrival to their status.",
            ),
            methods: (0..Method::count()).map(|_| OfMethod::default()).collect(),
        }
    }

    pub(super) fn register(&self, registry: &Registry) {
        registry.add(&self.started);
        registry.add(&self.handled);
        registry.add(&self.handling);
    }

    /// Counts the arrival of a call.
    pub(super) fn arrived(&self, method: &Method) {
        let started = || self.started.with_label_values(&labels(method));
        self.methods[method.number].started.get_or_init(started).inc();
    }

    /// Counts the end of a call that took `seconds`.
    pub(super) fn ended(&self, method: &Method, code: Code, seconds: f64) {
        let ended = || {
            let [kind, service, name] = labels(method);
            let labels = [kind, service, name, names(code).go];
            (self.handled.with_label_values(&labels), self.handling.with_label_values(&labels))
        };
        let of_code = &self.methods[method.number].ended[code as usize % CODES];
        let (handled, handling) = of_code.get_or_init(ended);
        handled.inc();
        handling.observe(seconds);
    }
}

/// The kind, the service and the name of a method. What a client makes up is not repeated.
fn labels(method: &Method) -> [&str; 3] {
    let kind = match (method.takes_many, method.answers_many) {
        (false, false) => "unary",
        (false, true) => "server_stream",
        (true, false) => "client_stream",
        (true, true) => "bidi_stream",
    };
    let (service, name) = method.names();
    [kind, service, name]
}
