//! The conversations and sequences that a search covers.

use std::sync::Arc;

use utterd_domain::{Conversation, Ranges, Sequence};

/// Where to search: conversations, newest first.
pub struct Searched {
    /// The conversations.
    pub states: Vec<Arc<Conversation>>,
    /// The sequences to search in each.
    pub wanted: Vec<Ranges>,
}

impl Searched {
    /// Whether the search covers a sequence of the conversation at `index`.
    pub fn has(&self, index: usize, sequence: u64) -> bool {
        self.wanted[index].contains(Sequence(sequence))
    }
}

/// How new an utterance of the conversation at `index` is: above 0, and 1 for the newest of all.
pub fn recency(states: &[Arc<Conversation>], index: usize, sequence: u64) -> f64 {
    let newest = states[index].head.next.get().saturating_sub(1).max(1);
    let older = (states.len() - 1 - index) as f64;
    (older + sequence as f64 / newest as f64) / states.len() as f64
}
