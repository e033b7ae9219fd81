//! The approximate size of a conversation in memory.

use std::sync::Arc;

use utterd_domain::{Conversation, compaction::Compaction};

/// The bytes of a queue and its entry in the cache.
pub(super) const QUEUE: u64 = 512;
/// The bytes that each compaction takes, even if it can no longer be undone.
const COMPACTION: usize = 256;

/// Returns the bytes of a conversation in the state `state`. The cost does not grow with the length of the
/// conversation.
pub(super) fn queue(state: &Conversation) -> u64 {
    let told = state.summary.memory_bytes() + compactions(&state.compactions);
    QUEUE + (state.window.memory_bytes() + state.head.memory_bytes() + told) as u64
}

/// Returns the bytes of the compactions. Reads only the newest ones, because older ones cannot be undone.
fn compactions(all: &[Arc<Compaction>]) -> usize {
    let newest = all.iter().rev().take_while(|compaction| compaction.is_undoable());
    COMPACTION * all.len() + newest.map(|compaction| compaction.memory_bytes()).sum::<usize>()
}
