//! What both conversations share after a fork.

use crate::{ConversationId, LineageId, Sequence};

/// A lineage that was frozen by a fork: nothing more is written to it, and every conversation that shares it
/// reads it up to a last sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Trunk {
    /// The lineage of the utterances.
    pub lineage: LineageId,
    /// The last sequence read there; 0 if nothing is read there, because the conversation only has copies of
    /// that lineage's utterances.
    pub through: Sequence,
}

/// What a conversation was forked from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ForkedFrom {
    /// The parent, whether or not it still exists.
    pub conversation: ConversationId,
    /// The last sequence that both share; 0 if nothing is shared.
    pub sequence: Sequence,
    /// Whether a segment reached beyond that sequence and could not be rebuilt exactly, because its sources
    /// are no longer stored.
    pub approximate: bool,
}
