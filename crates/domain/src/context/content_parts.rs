//! Content that has more than text in some format.

use std::{collections::BTreeMap, sync::Arc};

use crate::Sequence;

/// The original content of utterances in the context's format, where it has more than text: images, files, a
/// model's thinking. Each is a JSON array of parts, or blocks, that the format's API accepts.
#[derive(Clone, Debug, Default)]
pub struct ContentParts {
    by_utterance: BTreeMap<Sequence, Arc<str>>,
    /// Whether others were left out for lack of room.
    pub left_out: bool,
}

impl ContentParts {
    /// Keeps the parts of an utterance.
    pub fn insert(&mut self, sequence: Sequence, parts: impl Into<Arc<str>>) {
        self.by_utterance.insert(sequence, parts.into());
    }

    pub(super) fn of(&self, sequence: Sequence) -> Option<Arc<str>> {
        self.by_utterance.get(&sequence).cloned()
    }
}
