//! Whether a text contains the wanted words.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{
    languages::Language,
    terms::{Reader, StopWords, TermKind},
};

/// The words to look for in other texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    text: String,
}

/// Creates the [`Terms`] of a text.
pub fn terms(text: &str) -> Terms {
    Terms { text: text.to_owned() }
}

impl Terms {
    /// Whether the text has no word at all, such as an empty text or bare punctuation.
    pub fn is_empty(&self) -> bool {
        let mut is_empty = true;
        let mut reader = Reader::default();
        let language = reader.read(&self.text, Language::English);
        reader.each_term(&self.text, language, StopWords::Keep, |_| is_empty = false);
        is_empty
    }
}

/// Whether a text contains every wanted word, in any order and inflection.
///
/// - An identifier is wanted as a whole: a text about creating an order does not contain `create_order`, but
///   a text with `create_order` contains `order`.
/// - Wanted stop words are ignored unless nothing else is wanted; then each of them must occur in the text.
/// - If nothing is wanted, no text contains it.
pub fn holds_all(text: &str, wanted: &Terms) -> bool {
    let mut reader = Reader::default();
    let language = reader.read(text, Language::English);
    let mut has: FxHashSet<String> = FxHashSet::default();
    reader.each_term(text, language, StopWords::Keep, |term| {
        has.insert(term.text.to_owned());
    });
    let wanted = &wanted.text;
    let own = reader.read(wanted, Language::English);
    let (first, second) = (said(&mut reader, wanted, own), said(&mut reader, wanted, language));
    let only_stop_words = !first.iter().any(|range| second.contains(range));
    let (mut wants, mut holds) = (false, true);
    reader.each_term(wanted, language, StopWords::Keep, |term| {
        let is_word = matches!(term.kind, TermKind::Word | TermKind::Whole | TermKind::Pair);
        let is_said = first.contains(&term.range) && second.contains(&term.range);
        if is_word && (only_stop_words || is_said) {
            wants = true;
            holds &= has.contains(term.text);
        }
    });
    wants && holds
}

/// The ranges of a text's words other than the stop words of a language.
fn said(reader: &mut Reader, text: &str, language: Language) -> FxHashSet<Range<usize>> {
    let mut ranges = FxHashSet::default();
    reader.each_term(text, language, StopWords::Skip, |term| {
        ranges.insert(term.range);
    });
    ranges
}
