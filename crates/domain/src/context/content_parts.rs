//! What of an utterance goes out beyond its text and its calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{Ranges, Sequence};

/// What of an utterance goes out in a context's format beyond its text and its calls.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The whole content as it came, or with pictures from another format, as the format's JSON: a message of OpenAI's
    /// chat, or an array of Anthropic's blocks. `None` if it is no more than text and calls.
    pub json: Option<Arc<str>>,
    /// Words in it that the text does not have: a model's thoughts. Their tokens count.
    pub words: Box<str>,
    /// The names of what is left out, such as `thinking`: the format has no place for it, or its API refuses it.
    pub left_out: Vec<Box<str>>,
}

/// The contents of utterances that have more than text: images, files, a model's thinking.
#[derive(Clone, Debug, Default)]
pub struct ContentParts {
    by_utterance: BTreeMap<Sequence, (Arc<str>, u32)>,
    names: BTreeMap<Sequence, Vec<Box<str>>>,
    /// Whether others were left out for lack of room.
    pub left_out: bool,
}

impl ContentParts {
    /// Keeps the content of an utterance. Its words beside the text have so many `tokens`.
    pub fn insert(&mut self, sequence: Sequence, json: impl Into<Arc<str>>, tokens: u32) {
        self.by_utterance.insert(sequence, (json.into(), tokens));
    }

    /// Keeps the names of what is left out of an utterance.
    pub fn leave_out(&mut self, sequence: Sequence, names: Vec<Box<str>>) {
        self.names.insert(sequence, names);
    }

    /// The content of an utterance, and the tokens of its words beside the text.
    pub(super) fn of(&self, sequence: Sequence) -> Option<(Arc<str>, u32)> {
        self.by_utterance.get(&sequence).cloned()
    }

    /// The names of what is left out of the utterances that a context has.
    pub(super) fn names(&self, shown: &Ranges) -> BTreeSet<&str> {
        let shown = self.names.iter().filter(|(sequence, _)| shown.contains(**sequence));
        shown.flat_map(|(_, names)| names.iter().map(|name| &**name)).collect()
    }
}
