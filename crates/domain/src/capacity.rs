//! How full a conversation's window is.

use crate::{Conversation, Marks, compaction::Advice};

/// The numbers of a conversation at one revision. Holds no text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Capacity {
    /// Occupied slots of the window.
    pub utterances: u64,
    /// The soft-forgotten ones among them.
    pub forgotten: u64,
    /// Distinct live turns, without turn 0.
    pub turns: u64,
    /// Tokens of the live utterances.
    pub tokens: u64,
    /// The maximum number of utterances; `None` means unlimited.
    pub max_utterances: Option<u32>,
    /// The maximum number of tokens; `None` means unlimited.
    pub max_tokens: Option<u32>,
    /// The maximum number of turns; `None` means unlimited.
    pub max_turns: Option<u32>,
    /// The most utterances that an eviction leaves; `None` means unlimited, or not recorded.
    pub keep_utterances: Option<u32>,
    /// The most tokens that an eviction leaves; `None` means unlimited, or not recorded.
    pub keep_tokens: Option<u32>,
    /// The most turns that an eviction leaves; `None` means unlimited, or not recorded.
    pub keep_turns: Option<u32>,
    /// What cannot leave the window; empty unless a measure is above its maximum.
    pub over_limit: Vec<OverLimit>,
    /// Archived utterances.
    pub archived: u64,
    /// Tokens of the summary.
    pub summary_tokens: u64,
    /// The maximum number of tokens of the summary; `None` means unlimited.
    pub summary_limit: Option<u32>,
    /// Segments of the summary.
    pub segments: u64,
    /// Utterances that the summary covers.
    pub covered: u64,
    /// Segments waiting for a model.
    pub provisional: u64,
    /// The advice to compact, if there is any.
    pub advice: Option<Advice>,
}

/// What cannot leave a window that is above a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum OverLimit {
    /// The newest unit.
    NewestUnit,
    /// The exchange waiting for results.
    OpenExchange,
    /// System utterances at the head.
    Instructions,
    /// Pinned units.
    Pinned,
}

impl Capacity {
    /// Returns the numbers of `conversation`.
    pub fn of(conversation: &Conversation) -> Self {
        let (head, window, summary) = (&conversation.head, &conversation.window, &conversation.summary);
        let policy = &head.policy;
        Self {
            utterances: window.len() as u64,
            forgotten: u64::from(window.forgotten()),
            turns: u64::from(window.turns()),
            tokens: window.tokens(),
            max_utterances: policy.utterances.map(Marks::max),
            max_tokens: policy.tokens.map(Marks::max),
            max_turns: policy.turns.map(Marks::max),
            keep_utterances: policy.utterances.map(Marks::keep),
            keep_tokens: policy.tokens.map(Marks::keep),
            keep_turns: policy.turns.map(Marks::keep),
            over_limit: over_limit(conversation),
            archived: head.archived.count(),
            summary_tokens: u64::from(summary.tokens()),
            summary_limit: policy.summary_token_limit,
            segments: summary.segments().len() as u64,
            covered: summary.covered_count(),
            provisional: summary.provisional() as u64,
            advice: Advice::of(conversation),
        }
    }
}

fn over_limit(conversation: &Conversation) -> Vec<OverLimit> {
    let window = &conversation.window;
    if !window.is_over(&conversation.head.policy) {
        return Vec::new();
    }
    let newest = match conversation.head.open {
        Some(_) => OverLimit::OpenExchange,
        None => OverLimit::NewestUnit,
    };
    let instructions = (window.instructions() > 0).then_some(OverLimit::Instructions);
    let pinned = (window.pinned() > 0).then_some(OverLimit::Pinned);
    [Some(newest), instructions, pinned].into_iter().flatten().collect()
}
