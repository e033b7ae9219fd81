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
