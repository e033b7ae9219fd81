//! Where a saying was first stored.

use std::collections::BTreeMap;

use crate::{LineageId, Ranges, Sequence};

/// The place where a saying was first stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// The lineage of the conversation that it was said in.
    pub lineage: LineageId,
    /// Its sequence there.
    pub sequence: Sequence,
}

/// A run of utterances that were first said in another conversation, and were stored again in this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Copied {
    /// The first of them in this conversation.
    pub first: Sequence,
    /// The last of them in this conversation.
    pub last: Sequence,
    /// The origin of the first; those of the others follow it.
    pub origin: Origin,
    /// Whether their contents replace what was said there.
    pub edited: bool,
}

/// A set of origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<LineageId, Ranges>);

/// The utterances of a conversation that have one of a set of origins; no sequence is in two of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Had {
    /// Sequences that it shares with other conversations, or said first.
    pub shared: Ranges,
    /// Sequences that are copies.
    pub copied: Ranges,
    /// Copies whose content was replaced.
    pub edited: Ranges,
}

impl Copied {
    /// Its sequences in this conversation.
    pub(crate) fn sequences(&self) -> Ranges {
        Ranges::of(self.first, self.last)
    }

    /// The sequences where they were first stored.
    pub(crate) fn origins(&self) -> Ranges {
        let Origin { sequence, .. } = self.origin;
        Ranges::of(sequence, Sequence(sequence.0.saturating_add(self.last.0 - self.first.0)))
    }

    /// The part of the run that is the utterance at `sequence`.
    pub(crate) fn at(&self, sequence: Sequence) -> Self {
        let Origin { lineage, sequence: first } = self.origin;
        let origin =
            Origin { lineage, sequence: Sequence(first.0.saturating_add(sequence.0 - self.first.0)) };
        Self { first: sequence, last: sequence, origin, ..*self }
    }

    /// Whether `next`, a single utterance, continues the run.
    pub(crate) fn continues(&self, next: &Self) -> bool {
        self.last.next() == next.first && self.at(next.first) == *next
    }
}

impl Origins {
    /// Adds these sequences of a lineage.
    pub(crate) fn add(&mut self, lineage: LineageId, sequences: &Ranges) {
        if !sequences.is_empty() {
            self.0.entry(lineage).or_default().union(sequences);
        }
    }

    /// The sequences among `among` of a lineage that are in the set.
    pub(crate) fn of(&self, lineage: LineageId, among: &Ranges) -> Ranges {
        self.0.get(&lineage).map_or_else(Ranges::new, |known| known.intersection(among))
    }
}

impl Had {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.copied.is_empty() && self.edited.is_empty()
    }

    /// All of it.
    pub fn all(&self) -> Ranges {
        let mut all = self.shared.clone();
        all.union(&self.copied);
        all.union(&self.edited);
        all
    }
}
