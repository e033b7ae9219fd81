//! Statistics of a namespace's model summaries in this process.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use crate::{Caller, Engine};
use utterd_domain::Timestamp;
use utterd_telemetry::Registry;

/// The model calls for a namespace since the process started, and its waiting work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmStanding {
    /// Calls in flight.
    pub in_flight: u64,
    /// Answers that became a segment's text, or a title and a closing summary.
    pub told: u64,
    /// Answers that were dropped because their segment no longer existed, or some of its sources were
    /// forgotten meanwhile.
    pub dropped: u64,
    /// Calls that returned nothing usable.
    pub failed: u64,
    /// Whether calls are held back, for every namespace, because the model's server does not answer.
    pub held_back: bool,
    /// The time since which the oldest conversation has been waiting, as of the last read of the queue.
    pub waiting_since: Option<Timestamp>,
}

impl Engine {
    /// Returns the statistics of the caller's namespace; `None` if no model is configured.
    pub fn llm_standing(&self, caller: &Caller) -> Option<LlmStanding> {
        let llm = self.llm.as_ref()?;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let tenant = llm.tenants.of(&caller.namespace);
        let counts = &tenant.counts;
        Some(LlmStanding {
            in_flight: read(&counts.out),
            told: read(&counts.told),
            dropped: read(&counts.dropped),
            failed: read(&counts.failed),
            held_back: llm.breaker.lock().is_open(),
            waiting_since: llm.waiting.lock().get(&caller.namespace).copied(),
        })
    }

    /// Adds the metrics of the model that writes summaries, if there is one.
    pub(crate) fn describe_llm(self: &Arc<Self>, registry: &Registry) {
        let Some(llm) = &self.llm else { return };
        llm.meters.register(registry);
        let paused = llm.clone();
        registry.gauge(
            "utterd_llm_paused",
            "1 while calls to the model are paused, because its server does not answer.",
            move || f64::from(u8::from(paused.breaker.lock().is_open())),
        );
        let (engine, waiting) = (self.clone(), llm.clone());
        registry.gauge(
            "utterd_summary_lag_seconds",
            "For how long the oldest conversation has been waiting for the model.",
            move || match waiting.waiting.lock().values().min() {
                Some(since) => (engine.now().0 - since.0).max(0) as f64 / 1e6,
                None => 0.0,
            },
        );
    }
}
