//! The context for changing a summary.

use crate::{Timestamp, TokenCounter, Window, extract::Part, limits::MAX_SUMMARY_TOKENS};

/// What a segment keeps for later folds, in percent of the summary's limit.
const KEPT_PERCENT: u64 = 150;

/// The context for changing a summary.
#[derive(Clone, Copy)]
pub struct SummaryContext<'a> {
    /// The maximum tokens of the whole summary; `None` for the maximum of any summary.
    pub limit: Option<u32>,
    /// Counts tokens in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The window, when utterances that left it are summarised.
    pub window: Option<&'a Window>,
    /// Whether the conversation is to become short: new segments then always keep to
    /// [`SEGMENT_PERCENT`](crate::limits::SEGMENT_PERCENT).
    pub compacts: bool,
    /// The current time, if a model is to rewrite new segments; otherwise `None`.
    pub awaits: Option<Timestamp>,
}

impl SummaryContext<'_> {
    /// Which part of the conversation a segment tells: its start if it `begins` the summary, and its end only if
    /// nothing is left in the window.
    pub(super) fn part(&self, begins: bool) -> Part {
        Part { begins, goes_on: self.window.is_none_or(|window| !window.is_empty()) }
    }

    /// The tokens of what a segment keeps of a source of `source_tokens`.
    pub(super) fn kept(&self, source_tokens: u64) -> u32 {
        let most = u64::from(self.limit()) * KEPT_PERCENT / 100;
        u32::try_from(most.min(source_tokens)).unwrap_or(u32::MAX)
    }

    /// The limit, as a number.
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(u32::MAX).min(MAX_SUMMARY_TOKENS)
    }
}
