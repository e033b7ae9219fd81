//! What a summary is changed with.

use crate::domain::{Timestamp, TokenCounter, Window, extractive::Focus, limits::MAX_SUMMARY_TOKENS};

/// So many utterances tell what is talked about.
const RECENT_UTTERANCES: usize = 32;

/// What a summary is changed with.
#[derive(Clone, Copy)]
pub struct SummaryContext<'a> {
    /// The tokens that the whole summary may have; `None` for as many as any may have.
    pub limit: Option<u32>,
    /// Counts in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The window, where what left it is told: what is still talked about there is kept longest.
    pub window: Option<&'a Window>,
    /// Whether it is to become short: new segments keep to
    /// [`SEGMENT_PERCENT`](crate::domain::limits::SEGMENT_PERCENT) always.
    pub compacts: bool,
    /// The time, when a model is to tell what is written; `None` when none is.
    pub awaits: Option<Timestamp>,
}

impl SummaryContext<'_> {
    /// What a summary dwells on when it is folded.
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
