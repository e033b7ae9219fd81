//! How models' summaries of a namespace stand in this process.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    domain::Timestamp,
    engine::{Caller, Engine},
};

/// What was asked of the model for a namespace since the process started, and what waits of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmStanding {
    /// Calls that are out.
    pub in_flight: u64,
    /// Answers that became a segment's text, or a title and a closing summary.
    pub told: u64,
    /// Answers for what was not there any more, or of which something was forgotten meanwhile.
    pub dropped: u64,
    /// Calls that brought nothing that could be used.
    pub failed: u64,
    /// Calls are held back, those of every namespace, because the model's server does not answer.
    pub held_back: bool,
    /// Since when the conversation that waits longest has waited, as the queue was last read.
    pub waiting_since: Option<Timestamp>,
}

impl Engine {
    /// How models' summaries of the caller's namespace stand; `None` where no model is configured.
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
