//! What an imported summary is about.

use crate::Timestamp;

/// What an imported segment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Imported {
    /// When the first of it was said.
    pub start: Timestamp,
    /// When the last of it was said.
    pub end: Timestamp,
    /// The number of conversations; 0 if unknown.
    pub conversations: u64,
}

/// A summary to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSummary {
    /// What it is about.
    pub of: Imported,
    /// Its text.
    pub text: Box<str>,
}

impl Imported {
    /// The two combined.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            conversations: self.conversations.saturating_add(other.conversations),
        }
    }
}
