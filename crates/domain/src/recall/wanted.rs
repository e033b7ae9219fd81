//! A term of a prompt.

use std::ops::Range;

use smallvec::SmallVec;

use super::term::TermKind;

/// A term of a prompt.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The forms it can have in an index, depending on the index's languages.
    pub alternatives: SmallVec<[String; 2]>,
    /// The word it comes from, as it is written, and in lower case.
    pub written: String,
    pub word: String,
    /// The range of that word in the prompt.
    pub range: Range<usize>,
    pub kind: TermKind,
    /// For a part of an identifier: the index of the whole.
    pub whole: Option<usize>,
    /// How much of it counts towards covering the prompt: little for a word of every day.
    pub share: f32,
}

impl Wanted {
    /// Whether it is a stop word that names something.
    pub(super) fn is_name(&self) -> bool {
        self.alternatives[0].starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// Whether the term is a part of `name`.
    pub(super) fn names(&self, name: &str) -> bool {
        let word = self.word.strip_suffix("'s").unwrap_or(&self.word);
        let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        let is_same = |part: &str| part.chars().flat_map(char::to_lowercase).eq(word.chars());
        matches!(self.kind, TermKind::Word | TermKind::Whole) && parts.into_iter().any(is_same)
    }
}
