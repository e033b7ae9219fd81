//! How models' summaries stand in this process.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    domain::Timestamp,
    engine::{Engine, EngineError},
};

/// What was asked of the model since the process started, and what waits.
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
    /// Calls are held back, because the model's server does not answer.
    pub held_back: bool,
    /// Since when the conversation that waits longest has waited.
    pub waiting_since: Option<Timestamp>,
}

impl Engine {
    /// How models' summaries stand; `None` where no model is configured.
    pub async fn llm_standing(&self) -> Result<Option<LlmStanding>, EngineError> {
        let Some(llm) = &self.llm else { return Ok(None) };
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let counts = &llm.counts;
        let longest = self.store.waiting(None, 1).await?;
        Ok(Some(LlmStanding {
            in_flight: read(&counts.out),
            told: read(&counts.told),
            dropped: read(&counts.dropped),
            failed: read(&counts.failed),
            held_back: llm.breaker.lock().is_open(),
            waiting_since: longest.first().map(|(since, _)| *since),
        }))
    }
}
