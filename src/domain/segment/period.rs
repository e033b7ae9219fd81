//! What an imported summary tells of.

use crate::domain::{Sequence, Timestamp};

/// What an imported segment tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// When the first of it was said.
    pub start: Timestamp,
    /// When the last of it was said.
    pub end: Timestamp,
    /// How many conversations it was; 0 when nobody knows.
    pub conversations: u64,
}

/// A summary to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSummary {
    /// What it tells of.
    pub of: Imported,
    /// What it tells.
    pub text: Box<str>,
}

impl Imported {
    /// What both tell of.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            conversations: self.conversations.saturating_add(other.conversations),
        }
    }
}

/// The sequence of sentences that tell of no utterance.
pub const UNSAID: Sequence = Sequence(0);
