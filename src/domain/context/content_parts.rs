//! Content of which a format holds more than text.

use std::{collections::BTreeMap, sync::Arc};

use crate::domain::Sequence;

/// Of utterances, the content as it came in the context's format, where that holds more than text: images, files,
/// a model's thinking. Each is a JSON array of parts, or blocks, that the format's API accepts.
#[derive(Clone, Debug, Default)]
pub struct ContentParts {
    by_utterance: BTreeMap<Sequence, Arc<str>>,
    /// Whether there are more, for which there was no room.
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
