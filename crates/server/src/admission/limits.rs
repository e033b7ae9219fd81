//! The limits that the workers of a server share.

use std::{num::NonZeroU32, sync::Arc};

use http::{Extensions, Request};
use tokio::time::Instant;
use tonic::{Status, body::Body};

use super::{in_flight::InFlight, rates::Rates, refusals::Refusals};
use crate::guard::{
    Principal,
    methods::{Method, Origin},
};
use utterd_config::Settings;
use utterd_domain::limits::{MESSAGE_BYTES, STRANGERS_SHARE, STREAMS_SHARE};
use utterd_rpc::{MessageMemory, Pace, turned_away};
use utterd_telemetry::{IntCounter, IntCounterVec, Registry, by};

/// The reason for refusing a caller that exceeds its calls per second.
const TOO_FAST: &str = "TOO_MANY_CALLS_A_SECOND";

/// The limits that the workers of a server share.
pub struct Admission {
    /// Whether more writes wait than the store can keep up with.
    pub(super) is_store_behind: Box<dyn Fn() -> bool + Send + Sync>,
    pub(super) memory: Arc<MessageMemory>,
    pub(super) max_message_bytes: usize,
    calls: Open,
    streams: Open,
    /// The calls and streams of callers without a credential, and of health and reflection.
    strangers: Open,
    rates: Rates,
    /// The calls per second of a caller whose credential sets no limit.
    calls_per_second: Option<NonZeroU32>,
    /// Whether callers have credentials.
    is_guarded: bool,
    pub(super) overloaded: Refusals,
    refused: IntCounterVec,
    too_fast: IntCounter,
}

/// Calls or streams that can be open, and the refusal of more.
pub(super) struct Open {
    pub(super) in_flight: Arc<InFlight>,
    pub(super) too_many: Refusals,
}

impl Admission {
    /// The limits of `settings`; `is_store_behind` says whether the store is behind.
    pub fn new(settings: &Settings, is_store_behind: impl Fn() -> bool + Send + Sync + 'static) -> Arc<Self> {
        let (calls, streams) = (settings.max_calls_in_flight, settings.max_streams);
        let refused =
            by(&["reason"], "utterd_calls_refused_total", "Calls that were turned away, by the reason.");
        let open = |what: &str, reason, setting, most: usize, most_each: usize| Open {
            in_flight: InFlight::new(most, most_each),
            too_many: Refusals::new(
                &refused,
                reason,
                format!(
                    "too many {what} are open: {setting} allows {most}, of which each caller has a share"
                ),
                Some(setting),
            ),
        };
        let of_strangers = (streams / STRANGERS_SHARE).max(1);
        let most_each = |streams: usize| (streams / STREAMS_SHARE).max(1);
        let more = "more calls arrive than can be served: retry after the given delay";
        Arc::new(Self {
            is_store_behind: Box::new(is_store_behind),
            memory: MessageMemory::new(MESSAGE_BYTES.max(3 * settings.max_message_bytes)),
            max_message_bytes: settings.max_message_bytes,
            calls: open("calls", "TOO_MANY_CALLS", "max_calls_in_flight", calls, calls),
            streams: open("streams", "TOO_MANY_STREAMS", "max_streams", streams, most_each(streams)),
            strangers: open(
                "calls without a credential",
                "TOO_MANY_CALLS",
                "max_streams",
                of_strangers,
                most_each(of_strangers),
            ),
            rates: Rates::default(),
            calls_per_second: NonZeroU32::new(settings.calls_per_second),
            is_guarded: settings.asks_for_credentials(),
            overloaded: Refusals::new(&refused, "OVERLOADED", more.into(), None),
            too_fast: refused.with_label_values(&[TOO_FAST]),
            refused,
        })
    }

    /// Adds the metrics of admission.
    pub fn describe(&self, registry: &Registry) {
        registry.add(&self.refused);
        let calls = self.calls.in_flight.clone();
        registry.gauge("utterd_calls_in_flight", "Calls in flight that are not streams.", move || {
            calls.total() as f64
        });
        let streams = self.streams.in_flight.clone();
        registry.gauge("utterd_streams_open", "Open streams.", move || streams.total() as f64);
    }

    /// Returns the memory for messages.
    pub fn memory(&self) -> &Arc<MessageMemory> {
        &self.memory
    }

    /// Whether the caller of a request is known: by its credential, unless the server asks for none.
    pub(super) fn knows(&self, method: &Method, extensions: &Extensions) -> bool {
        match self.is_guarded {
            true => extensions.get::<Principal>().is_some(),
            false => method.origin != Origin::Grpc,
        }
    }

    /// Returns what a call of `method` counts as.
    pub(super) fn open(&self, method: &Method, is_known: bool) -> &Open {
        match is_known {
            false => &self.strangers,
            true if method.is_stream() => &self.streams,
            true => &self.calls,
        }
    }

    /// Counts the call towards its caller's calls per second; the messages of a stream are counted as they arrive.
    pub(super) fn pace(
        self: &Arc<Self>,
        request: &mut Request<Body>,
        method: &Method,
        caller: u64,
        now: Instant,
    ) -> Result<(), Status> {
        let principal = request.extensions().get::<Principal>();
        let own = principal.and_then(|principal| principal.calls_per_second);
        let Some(most) = own.or(self.calls_per_second) else { return Ok(()) };
        self.rates.take(caller, most, now).map_err(|wait| {
            self.too_fast.inc();
            let name = principal.map_or("the connection", |principal| &principal.name);
            let text = format!("{name} may make {most} calls per second: retry after the given delay");
            turned_away(TOO_FAST, &text, wait, Some((name, &text)))
        })?;
        if method.is_stream() {
            let admission = self.clone();
            let pace = Pace::new(move || admission.rates.take(caller, most, Instant::now()));
            request.extensions_mut().insert(pace);
        }
        Ok(())
    }
}
