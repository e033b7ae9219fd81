//! Statistics of a namespace's model summaries in this process.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    domain::Timestamp,
    engine::{Caller, Engine},
};

/// The model calls for a namespace since the process started, and its waiting work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmStanding {
    /// Calls in flight.
    pub in_flight: u64,
    /// Answers that became a segment's text, or a title and a closing summary.
    pub told: u64,
    /// Answers dropped because their segment no longer existed, or something in it was forgotten meanwhile.
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
}
