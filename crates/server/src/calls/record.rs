//! One call: its id, and what happens at its end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, Request};
use tokio::time::Instant;
use tonic::{Code, Status, body::Body};

use super::{meters::Meters, span};
use crate::{code_names::names, guard::methods::Method, transport::connection::Peer};
use utterd_config::Settings;
use utterd_domain::limits::MAX_REQUEST_ID_BYTES;
use utterd_rpc::name_request;
use utterd_telemetry::{Registry, Span};

/// The header with the id of a call: in the request if the caller chooses it, and in the trailers of the answer.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Counts and logs all calls of a server.
pub struct Calls {
    meters: Meters,
    /// Whether each call is logged.
    is_logged: bool,
    /// A call that takes longer than this is logged in any case.
    slow: Duration,
    /// Begins the ids of this server's calls.
    run: u32,
    next: AtomicU64,
}

impl Calls {
    /// Logs what `settings` ask for; `run` makes the ids of this process differ from those of others.
    pub fn new(settings: &Settings, run: u128) -> Arc<Self> {
        // the low bits of a ULID are the random ones
        let (run, next) = (run as u32, AtomicU64::new(1));
        Arc::new(Self {
            meters: Meters::new(),
            is_logged: settings.log_calls,
            slow: settings.slow_call,
            run,
            next,
        })
    }

    /// Adds the metrics of calls.
    pub fn register(&self, registry: &Registry) {
        self.meters.register(registry);
    }

    /// Notes the arrival of a call.
    pub(super) fn arrived(self: &Arc<Self>, method: &'static Method, request: &Request<Body>) -> Record {
        self.meters.arrived(method);
        let peer = request.extensions().get::<Peer>();
        Record {
            id: given(request.headers()).unwrap_or_else(|| self.make_id()),
            calls: self.clone(),
            method,
            connection: peer.map(|peer| peer.connection),
            span: span::begin(method, request.headers()),
            arrived: Instant::now(),
            is_ended: false,
        }
    }

    /// A new id: the hexadecimal digits of the run and of the call's number.
    fn make_id(&self) -> HeaderValue {
        let id = format!("{:08x}-{:x}", self.run, self.next.fetch_add(1, Ordering::Relaxed));
        // only digits and letters, so this does not fail
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("unknown"))
    }
}

/// The id that the caller chose, if it can be logged.
pub fn given(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(REQUEST_ID)?;
    let is_visible = id.as_bytes().iter().all(u8::is_ascii_graphic);
    (is_visible && (1..=MAX_REQUEST_ID_BYTES).contains(&id.len())).then(|| id.clone())
}

/// A call that has arrived. If it is dropped before its end, its caller has cancelled it or is gone.
pub(super) struct Record {
    calls: Arc<Calls>,
    method: &'static Method,
    id: HeaderValue,
    connection: Option<u64>,
    /// Its span, if it is traced.
    pub(super) span: Option<Span>,
    arrived: Instant,
    is_ended: bool,
}

impl Record {
    /// Its span, if it is traced and a stream.
    pub(super) fn span_of_stream(&self) -> Option<&Span> {
        self.span.as_ref().filter(|_| self.method.is_stream())
    }

    /// Notes that the call ends with these headers or trailers, and adds its id to them.
    pub(super) fn end_with(mut self, last: &mut HeaderMap) {
        let code =
            last.get(Status::GRPC_STATUS).map_or(Code::Unknown, |code| Code::from_bytes(code.as_bytes()));
        if code == Code::Internal {
            self.report_fault(last);
        }
        self.end(code);
        let mut id = self.id.clone();
        // no id comes twice, so the connection's table of headers must not keep it
        id.set_sensitive(true);
        last.insert(REQUEST_ID, id);
    }

    /// Logs a fault of the server, and adds to the status the id under which the call is logged.
    fn report_fault(&self, last: &mut HeaderMap) {
        let id = self.id.to_str().unwrap_or_default();
        let Some(reason) = name_request(last, id) else { return };
        let (rpc, connection) = (&*self.method.path, self.connection);
        tracing::error!(target: "utterd::calls", rpc, reason, id, connection, "a call failed by a fault of the server");
    }

    fn end(&mut self, code: Code) {
        self.is_ended = true;
        let took = self.arrived.elapsed();
        self.calls.meters.ended(self.method, code, took.as_secs_f64());
        if let Some(span) = self.span.take() {
            span::end(&span, code, self.id.to_str().unwrap_or_default());
        }
        let is_slow = took > self.calls.slow && !self.method.is_stream();
        if is_slow || self.calls.is_logged {
            self.log(code, took, is_slow);
        }
    }

    fn log(&self, code: Code, took: Duration, is_slow: bool) {
        let (rpc, code, ms) = (&*self.method.path, names(code).go, took.as_micros() as f64 / 1e3);
        let (id, connection) = (self.id.to_str().unwrap_or_default(), self.connection);
        match is_slow {
            true => tracing::warn!(target: "utterd::calls", rpc, code, ms, id, connection, "a slow call"),
            false => tracing::info!(target: "utterd::calls", rpc, code, ms, id, connection, "a call"),
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.is_ended {
            self.end(Code::Cancelled);
        }
    }
}
