//! The state by which a server, and each of its workers, admits calls.

use std::{num::NonZeroU32, sync::Arc};

use http::{Extensions, Request, Response};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::body::Body;

use super::{
    board::Board,
    in_flight::InFlight,
    kind::Kind,
    refusals::Refusals,
    run_queue::{RunQueue, Ticket},
};
use crate::{admission::rates::Rates, guard::Principal};
use utterd_config::Settings;
use utterd_domain::limits::STREAMS_SHARE;
use utterd_rpc::{Pace, turned_away};
use utterd_telemetry::{IntCounter, IntCounterVec, Registry, by};

/// The reason for refusing a caller that exceeds its calls per second.
const TOO_FAST: &str = "TOO_MANY_CALLS_A_SECOND";

/// The admission state that the workers of a server share.
pub struct Admission {
    /// Whether more writes wait than the store can keep up with.
    pub(super) is_store_behind: Box<dyn Fn() -> bool + Send + Sync>,
    pub(super) calls: Arc<InFlight>,
    pub(super) streams: Arc<InFlight>,
    /// The demands of callers, which workers exchange.
    board: Arc<Board>,
    rates: Rates,
    /// The calls per second of a caller whose credential sets no limit.
    calls_per_second: Option<NonZeroU32>,
    /// Whether callers have credentials.
    is_guarded: bool,
    pub(super) overloaded: Refusals,
    pub(super) too_many_calls: Refusals,
    pub(super) too_many_streams: Refusals,
    refused: IntCounterVec,
    too_fast: IntCounter,
}

/// The admission of one worker.
pub struct Gate {
    pub(super) admission: Arc<Admission>,
    pub(super) queue: Mutex<RunQueue>,
}

impl Admission {
    /// Admission with the limits of `settings`; `is_store_behind` says whether the store is behind.
    pub fn new(settings: &Settings, is_store_behind: impl Fn() -> bool + Send + Sync + 'static) -> Arc<Self> {
        let (calls, streams) = (settings.max_calls_in_flight, settings.max_streams);
        let limited = |what: &str, setting: &str, most: usize| {
            format!("too many {what} are open: {setting} is {most}, of which each caller has a share")
        };
        let refused =
            by(&["reason"], "utterd_calls_refused_total", "Calls that were turned away, by the reason.");
        let counted = |reason: &str| refused.with_label_values(&[reason]);
        let too_many = |reason: &str, message: String, setting: &str| {
            Refusals::new(counted(reason), reason, &message, Some((setting, &message)))
        };
        let more = "more calls arrive than can be served: retry after the given delay";
        Arc::new(Self {
            is_store_behind: Box::new(is_store_behind),
            calls: InFlight::new(calls, calls),
            streams: InFlight::new(streams, (streams / STREAMS_SHARE).max(1)),
            board: Arc::default(),
            rates: Rates::default(),
            calls_per_second: NonZeroU32::new(settings.calls_per_second),
            is_guarded: settings.asks_for_credentials(),
            overloaded: Refusals::new(counted("OVERLOADED"), "OVERLOADED", more, None),
            too_many_calls: too_many(
                "TOO_MANY_CALLS",
                limited("calls", "max_calls_in_flight", calls),
                "max_calls_in_flight",
            ),
            too_many_streams: too_many(
                "TOO_MANY_STREAMS",
                limited("streams", "max_streams", streams),
                "max_streams",
            ),
            too_fast: counted(TOO_FAST),
            refused,
        })
    }

    /// Adds the metrics of admission.
    pub fn describe(&self, registry: &Registry) {
        registry.add(&self.refused);
        let calls = self.calls.clone();
        registry.gauge("utterd_calls_in_flight", "Calls in flight that are not streams.", move || {
            calls.total() as f64
        });
        let streams = self.streams.clone();
        registry.gauge("utterd_streams_open", "Open streams.", move || streams.total() as f64);
    }

    /// Whether the caller of a request is known: by its credential, unless the server asks for none.
    pub(super) fn knows(&self, extensions: &Extensions) -> bool {
        !self.is_guarded || extensions.get::<Principal>().is_some()
    }

    /// Counts the call towards its caller's calls per second; the messages of a stream are counted as they arrive.
    pub(super) fn pace(
        self: &Arc<Self>,
        request: &mut Request<Body>,
        kind: Kind,
        caller: u64,
        now: Instant,
    ) -> Result<(), Box<Response<Body>>> {
        let principal = request.extensions().get::<Principal>();
        let own = principal.and_then(|principal| principal.calls_per_second);
        let Some(most) = own.or(self.calls_per_second) else { return Ok(()) };
        self.rates.take(caller, most, now).map_err(|wait| {
            self.too_fast.inc();
            let name = principal.map_or("the connection", |principal| &principal.name);
            let text = format!("{name} may make {most} calls per second: retry after the given delay");
            Box::new(turned_away(TOO_FAST, &text, wait, Some((name, &text))).into_http())
        })?;
        if kind == Kind::Stream {
            let admission = self.clone();
            let pace = Pace::new(move || admission.rates.take(caller, most, Instant::now()));
            request.extensions_mut().insert(pace);
        }
        Ok(())
    }
}

impl Gate {
    /// The gate of a new worker.
    pub fn new(admission: Arc<Admission>) -> Arc<Self> {
        let queue = Mutex::new(RunQueue::new(admission.board.clone(), Instant::now()));
        Arc::new(Self { admission, queue })
    }

    /// Notes the arrival of a call.
    pub(super) fn arrive(&self, now: Instant) -> Ticket {
        self.queue.lock().arrive(now)
    }
}
