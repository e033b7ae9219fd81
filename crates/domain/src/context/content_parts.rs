//! Content that has more than text in some format.

use std::{collections::BTreeMap, sync::Arc};

use crate::Sequence;

/// The original content of utterances in the context's format, where it has more than text: images, files, a
/// model's thinking.
#[derive(Clone, Debug, Default)]
pub struct ContentParts {
    by_utterance: BTreeMap<Sequence, Original>,
    /// Whether others were left out for lack of room.
    pub left_out: bool,
}

/// The original content of an utterance.
#[derive(Clone, Debug)]
pub struct Original {
    /// A JSON array of parts, or blocks, that the format's API accepts.
    pub json: Arc<str>,
    /// The tokens of what is not text in it; `None` means those that the utterance has for its extras.
    pub tokens: Option<u32>,
    /// Its images, if it has any.
    pub images: Option<Images>,
}

/// The images of an utterance.
#[derive(Clone, Debug)]
pub struct Images {
    /// How many there are.
    pub count: u32,
    /// The content with [`IMAGE_MARK`](crate::context::wording::IMAGE_MARK) in the place of each.
    pub masked: Arc<str>,
}

impl Original {
    /// Its content, with its images or without.
    pub fn shown(&self, with_images: bool) -> &str {
        match &self.images {
            Some(images) if !with_images => &images.masked,
            _ => &self.json,
        }
    }
}

impl ContentParts {
    /// Keeps the content of an utterance.
    pub fn insert(&mut self, sequence: Sequence, original: Original) {
        self.by_utterance.insert(sequence, original);
    }

    pub(super) fn of(&self, sequence: Sequence) -> Option<&Original> {
        self.by_utterance.get(&sequence)
    }
}
