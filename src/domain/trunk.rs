//! What both conversations share after a fork.

use crate::domain::{ConversationId, LineageId, Ranges, Sequence};

/// A lineage that was frozen by a fork: nothing more is written to it, and every conversation that shares it
/// reads it up to a last sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trunk {
    /// The lineage of the utterances.
    pub lineage: LineageId,
    /// The last sequence read there.
    pub through: Sequence,
}

/// What a conversation was forked from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedFrom {
    /// The parent, whether or not it still exists.
    pub conversation: ConversationId,
    /// The last sequence that both share; 0 if nothing is shared.
    pub sequence: Sequence,
    /// Whether a segment reached beyond that sequence and could not be rebuilt exactly, because its sources
    /// are no longer stored.
    pub approximate: bool,
    /// For an edit, the last sequence of what repeats the parent's exchange with one utterance changed; it
    /// begins after `sequence`. `None` if the fork is not an edit.
    pub repeats_through: Option<Sequence>,
}

impl ForkedFrom {
    /// The sequences that repeat a unit of the parent, if that unit is among `lost`.
    pub fn repeats(&self, lost: &Ranges) -> Ranges {
        let first = self.sequence.next();
        match self.repeats_through.filter(|_| lost.contains(first)) {
            Some(last) => Ranges::of(first, last),
            None => Ranges::new(),
        }
    }
}
