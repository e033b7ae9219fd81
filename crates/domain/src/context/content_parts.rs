//! What of an utterance goes out beyond its text and its calls.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use crate::{Ranges, Sequence};

/// Takes the place of an image that is left out.
pub(super) const IMAGE_MARK: &str = "[image left out]";

/// What of an utterance goes out in a context's format beyond its text and its calls.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// `None` if it is no more than text and calls.
    pub original: Option<Original>,
    /// Words that the stored message has beside its text: a model's thoughts.
    pub stored_words: Box<str>,
    /// The names of what is left out, such as `thinking`: the format has no place for it, or its API refuses it.
    pub left_out: Vec<Box<str>>,
}

/// The content of an utterance as it came, or with pictures from another format.
#[derive(Clone, Debug)]
pub struct Original {
    /// The format's JSON: a message of OpenAI's chat, or an array of Anthropic's blocks.
    pub json: Arc<str>,
    /// Words in it that the text does not have: a model's thoughts. Their tokens count.
    pub words: Box<str>,
    /// The tokens of what is not text in it; `None` means those that the utterance has for its extras.
    pub tokens: Option<u32>,
    /// Its images, in their order.
    pub images: Vec<Image>,
}

/// An image in the content of an utterance.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its bytes in the JSON.
    pub place: Range<usize>,
    /// What it costs.
    pub tokens: u32,
}

impl Original {
    /// Its content, with its images or without.
    pub fn shown(&self, with_images: bool) -> Arc<str> {
        self.without(if with_images { 0 } else { self.images.len() })
    }

    /// Its content with a mark in the place of each of its first `count` images.
    pub(super) fn without(&self, count: usize) -> Arc<str> {
        if count == 0 {
            return self.json.clone();
        }
        let mark = serde_json::json!({"type": "text", "text": IMAGE_MARK}).to_string();
        let (mut json, mut from) = (String::new(), 0);
        for Image { place, .. } in self.images.iter().take(count) {
            json.push_str(self.json.get(from..place.start).unwrap_or_default());
            json.push_str(&mark);
            from = place.end;
        }
        json.push_str(self.json.get(from..).unwrap_or_default());
        json.into()
    }
}

/// What there is of an utterance beyond its text and its calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Beyond {
    pub(super) original: Option<Original>,
    /// Tokens of the words in `original` that the text does not have.
    pub(super) words: u32,
    /// The same of the stored message.
    pub(super) stored_words: u32,
}

/// The contents of utterances that have more than text: images, files, a model's thinking.
#[derive(Clone, Debug, Default)]
pub struct ContentParts {
    by_utterance: BTreeMap<Sequence, Beyond>,
    names: BTreeMap<Sequence, Vec<Box<str>>>,
    /// Whether others were left out for lack of room.
    pub left_out: bool,
}

impl ContentParts {
    /// Keeps the content of an utterance. Its words beside the text have so many `tokens`.
    pub fn insert(&mut self, sequence: Sequence, original: Original, tokens: u32) {
        let beyond = self.by_utterance.entry(sequence).or_default();
        (beyond.original, beyond.words) = (Some(original), tokens);
    }

    /// Counts the words that a stored message has beside its text.
    pub fn count_stored(&mut self, sequence: Sequence, tokens: u32) {
        self.by_utterance.entry(sequence).or_default().stored_words = tokens;
    }

    /// Keeps the names of what is left out of an utterance.
    pub fn leave_out(&mut self, sequence: Sequence, names: Vec<Box<str>>) {
        self.names.insert(sequence, names);
    }

    /// What there is of an utterance.
    pub(super) fn of(&self, sequence: Sequence) -> Option<&Beyond> {
        self.by_utterance.get(&sequence)
    }

    /// The names of what is left out of the utterances that a context has.
    pub(super) fn names(&self, shown: &Ranges) -> BTreeSet<&str> {
        let shown = self.names.iter().filter(|(sequence, _)| shown.contains(**sequence));
        shown.flat_map(|(_, names)| names.iter().map(|name| &**name)).collect()
    }
}
