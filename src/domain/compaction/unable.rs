//! Why a conversation is not compacted, or a compaction not undone.

use crate::domain::{
    Reason, Sequence,
    limits::{LEAST_COMPACTED_WINDOW, MAX_UNDO},
};

/// Why a conversation is not compacted, or a compaction not undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unable {
    /// A window has too few utterances to be compacted.
    #[error(
        "the window has {count} utterances, too few to compact: must be {LEAST_COMPACTED_WINDOW} or more"
    )]
    TooShortToCompact {
        /// The window's utterances.
        count: usize,
    },
    /// Nothing can leave the window.
    #[error(
        "none of the window's {count} utterances can be compacted: the last {keep_recent} stay, and so do system utterances at the head, pinned ones and whole exchanges; use a smaller keep_recent"
    )]
    NothingToCompact {
        /// The window's utterances.
        count: usize,
        /// How many must stay.
        keep_recent: u32,
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
            Self::NothingToCompact { .. } | Self::FewerToCompact { .. } => Reason::NothingToCompact,
            Self::Irreducible { .. } => Reason::Irreducible,
            Self::SummariesDisabled => Reason::SummariesDisabled,
            Self::NothingToUndo => Reason::NothingToUndo,
            Self::SourcesGone { .. } => Reason::SourcesGone,
        }
    }
}
