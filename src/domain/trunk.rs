//! What a fork leaves to both conversations.

use crate::domain::{ConversationId, LineageId, Ranges, Sequence};

/// A lineage that was frozen by a fork: nothing is written to it any more, and every conversation
/// that shares it reads it as far as it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trunk {
    /// Where the utterances are.
    pub lineage: LineageId,
    /// The last sequence that is read there.
    pub through: Sequence,
}

/// What a conversation was forked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedFrom {
    /// The parent, whether it still exists or not.
    pub conversation: ConversationId,
    /// The last sequence that both share; 0 when nothing is shared.
    pub sequence: Sequence,
    /// A segment that reached beyond that sequence could not be rebuilt exactly: its sources
    /// are not stored any more.
    pub approximate: bool,
    /// What follows that sequence, up to this one, is the parent's exchange once more, of which an utterance
    /// says something else; `None` when the fork is no edit.
    pub repeats_through: Option<Sequence>,
}

impl ForkedFrom {
    /// What is the parent's once more, if the unit that it was taken from is among `lost`.
    pub fn repeats(&self, lost: &Ranges) -> Ranges {
        let first = self.sequence.next();
        match self.repeats_through.filter(|_| lost.contains(first)) {
            Some(last) => Ranges::of(first, last),
            None => Ranges::new(),
        }
    }
}
