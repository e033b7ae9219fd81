//! Why a conversation is not compacted, or a compaction not undone.

use crate::{
    Reason, Sequence,
    limits::{LEAST_TO_COMPACT, MAX_UNDO},
};

/// Why a conversation is not compacted, or a compaction not undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unable {
    /// The conversation has too few utterances to be compacted.
    #[error(
        "Conversation too short to compact (< {LEAST_TO_COMPACT} messages): it stores {count} that were not compacted before"
    )]
    TooShortToCompact {
        /// The utterances stored that no compaction took.
        count: u64,
    },
    /// Fewer utterances can leave the window than were asked for.
    #[error(
        "count is {count}, but only {free} utterances of the window can be compacted: system utterances at the head, pinned ones, an open exchange and the newest unit stay"
    )]
    FewerToCompact {
        /// How many were asked for.
        count: u32,
        /// How many can leave.
        free: usize,
    },
    /// A compaction would save nothing.
    #[error(
        "irreducible: the window and its summary have {tokens} tokens, and compacting would not save any; the largest utterance that stays, sequence {sequence}, has {largest} tokens"
    )]
    Irreducible {
        /// Tokens of window and summary.
        tokens: u64,
        /// Tokens of the largest utterance that would stay.
        largest: u32,
        /// Its sequence.
        sequence: Sequence,
    },
    /// The policy disables summaries.
    #[error(
        "the conversation's policy disables summaries (summarization_enabled is false): set no_summary to archive without one"
    )]
    SummariesDisabled,
    /// No compaction can be undone.
    #[error("there is no compaction to undo: none was made, or the last {MAX_UNDO} have been undone")]
    NothingToUndo,
    /// What a compaction removed from the window is no longer stored.
    #[error(
        "compaction {number} cannot be undone: the archive no longer holds {lost} of its {all} utterances (archive_limit)"
    )]
    SourcesGone {
        /// The compaction.
        number: u32,
        /// Utterances that are no longer stored.
        lost: u64,
        /// All utterances that it compacted.
        all: u64,
    },
}

impl Unable {
    /// The machine-readable reason.
    pub fn reason(&self) -> Reason {
        match self {
            Self::TooShortToCompact { .. } => Reason::TooShortToCompact,
            Self::FewerToCompact { .. } => Reason::NothingToCompact,
            Self::Irreducible { .. } => Reason::Irreducible,
            Self::SummariesDisabled => Reason::SummariesDisabled,
            Self::NothingToUndo => Reason::NothingToUndo,
            Self::SourcesGone { .. } => Reason::SourcesGone,
        }
    }
}
