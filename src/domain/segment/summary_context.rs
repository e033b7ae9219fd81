//! What a summary is changed with.

use crate::domain::{Timestamp, TokenCounter, limits::MAX_SUMMARY_TOKENS};

/// What a summary is changed with.
#[derive(Clone, Copy)]
pub struct SummaryContext<'a> {
    /// The tokens that the whole summary may have; `None` for as many as any may have.
    pub limit: Option<u32>,
    /// Counts in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The time, when a model is to tell what is written; `None` when none is.
    pub awaits: Option<Timestamp>,
}

impl SummaryContext<'_> {
    /// The limit, as a number.
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(u32::MAX).min(MAX_SUMMARY_TOKENS)
    }
}
