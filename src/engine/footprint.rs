//! About how many bytes a conversation takes in memory.

use crate::domain::{Change, Conversation, Utterance};

/// A lane with its place in the cache.
pub(super) const LANE: u64 = 512;
/// A segment beyond its sentences.
const SEGMENT: usize = 192;
/// A token of a summary: its text, and its share of the sentence's record.
const SUMMARY_TOKEN: usize = 8;
/// A range of sequences.
const RANGE: usize = 16;

/// What a lane takes whose newest state is `state`, when the window takes `window`. Costs the same
/// at any length.
pub(super) fn lane(state: &Conversation, window: u64) -> u64 {
    let head = &state.head;
    let ranges = RANGE * (head.left.iter().count() + head.archived.iter().count());
    let summary = SEGMENT * state.summary.segments().len() + SUMMARY_TOKEN * state.summary.tokens() as usize;
    LANE + window + (head.memory_bytes() + ranges + summary) as u64
}

/// What the window of `state` takes.
pub(super) fn window(state: &Conversation) -> u64 {
    state.window.iter().map(|utterance| of(utterance)).sum()
}

/// What the window takes after `change`, when it took `before`. Costs by what the change is of.
pub(super) fn window_after(before: u64, change: &Change, after: &Conversation) -> u64 {
    if !(change.rewritten.is_empty() && change.erased.is_empty()) {
        return window(after);
    }
    let added: u64 = change.appended.iter().map(|utterance| of(utterance)).sum();
    let gone: u64 = change.evicted.iter().map(|utterance| of(utterance)).sum();
    (before + added).saturating_sub(gone)
}

fn of(utterance: &Utterance) -> u64 {
    utterance.memory_bytes() as u64
}
