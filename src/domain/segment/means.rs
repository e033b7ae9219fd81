//! What a summary is changed with.

use crate::domain::{Policy, Timestamp, TokenCounter, change::Context};

/// What a summary is changed with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The tokens that the whole summary may have; `None` is unlimited.
    pub limit: Option<u32>,
    /// Counts in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The time, when a model is to tell what is written; `None` when none is.
    pub awaits: Option<Timestamp>,
}

impl<'a> Means<'a> {
    /// By what a conversation's policy says.
    pub fn of(policy: &Policy, context: &Context<'a>) -> Self {
        Self {
            limit: policy.summary_token_limit,
            counter: context.counter,
            awaits: policy.llm_summaries.unwrap_or(context.llm).then_some(context.now),
        }
    }

    /// The limit, as a number.
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(u32::MAX)
    }
}
