//! The context for changing a summary.

use crate::{Timestamp, TokenCounter, Window, extractive::Focus, limits::MAX_SUMMARY_TOKENS};

/// The number of newest utterances that show what is talked about.
const RECENT_UTTERANCES: usize = 32;

/// The context for changing a summary.
#[derive(Clone, Copy)]
pub struct SummaryContext<'a> {
    /// The maximum tokens of the whole summary; `None` for the maximum of any summary.
    pub limit: Option<u32>,
    /// Counts tokens in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The window, when utterances that left it are summarised: what it still talks about is kept longest.
    pub window: Option<&'a Window>,
    /// Whether the conversation is to become short: new segments then always keep to
    /// [`SEGMENT_PERCENT`](crate::limits::SEGMENT_PERCENT).
    pub compacts: bool,
    /// The current time, if a model is to rewrite new segments; otherwise `None`.
    pub awaits: Option<Timestamp>,
}

impl SummaryContext<'_> {
    /// What a fold focuses on.
    pub(super) fn focus(&self) -> Focus {
        let recent = |window: &Window| {
            let length = window.len();
            let recent = window.slice(length.saturating_sub(RECENT_UTTERANCES)..length);
            Focus::on_talk(recent.map(|utterance| &**utterance))
        };
        self.window.map_or_else(Focus::none, recent)
    }

    /// The limit, as a number.
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(u32::MAX).min(MAX_SUMMARY_TOKENS)
    }
}
