//! Text to terms: what an utterance can be found by.
//!
//! - Words are those of [UAX #29], after NFKC and lower-casing, with `'` for any apostrophe.
//! - A stop word is no term, nor are its parts. A text that has only stop words keeps them all, so
//!   that it can still be found by exactly such a text.
//! - A word of letters is stemmed by the English Snowball stemmer (Porter2), which leaves words in
//!   other scripts as they are.
//! - An identifier (`create_order`, `getUserById`, `queue.rs`, `1.2.3`) is a term as a whole, and
//!   so is each of its parts.
//! - A run of a script that puts no spaces between words, and of Korean, which inflects within
//!   them, gives each pair of neighbouring characters and each single character.
//! - A word longer than [`MAX_TERM_BYTES`](super::MAX_TERM_BYTES) is a term by its beginning, and
//!   has no parts.
//!
//! All of it is linear in the text.
//!
//! [UAX #29]: https://www.unicode.org/reports/tr29/

use std::borrow::Cow;
use std::collections::HashMap;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::pieces::{TermKind, beginning, each_piece, is_unspaced};
use super::stop_words::is_stop_word;

/// One term of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The term, as indexes hold it.
    pub text: String,
    /// The word as the text has it, in NFKC.
    pub written: String,
    /// How the term comes from the text.
    pub kind: TermKind,
}

/// The terms of a text, in its order and with their repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    terms: Vec<Term>,
    only_stop_words: bool,
}

impl Terms {
    /// The terms, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter()
    }

    /// Whether the text has no word at all, such as an empty text or bare punctuation.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The terms of a text.
pub fn terms(text: &str) -> Terms {
    let mut terms = Vec::new();
    let only_stop_words = Reader::new().each_term(text, |term, written, kind| {
        terms.push(Term { text: term.to_owned(), written: written.to_owned(), kind });
    });
    Terms { terms, only_stop_words }
}

/// Whether a text holds every word that is wanted, in any order and inflection.
///
/// - An identifier is wanted as a whole: a text that says to create an order does not hold
///   `create_order`. A text that says `create_order` holds `order`.
/// - Wanted stop words are ignored, unless nothing else is wanted: then each of them must stand in
///   the text, whatever else the text says.
/// - When nothing is wanted, no text holds it.
pub fn holds_all(text: &str, wanted: &Terms) -> bool {
    let mut missing: Vec<&str> =
        wanted.iter().filter(|term| term.kind == TermKind::Word).map(|term| term.text.as_str()).collect();
    if missing.is_empty() {
        return false;
    }
    missing.sort_unstable();
    missing.dedup();
    let mut found = vec![false; missing.len()];
    let stop_words = if wanted.only_stop_words { StopWords::Keep } else { StopWords::Skip };
    Reader::new().read(text, stop_words, |term, _, _| {
        if let Ok(place) = missing.binary_search(&term) {
            found[place] = true;
        }
    });
    found.into_iter().all(|found| found)
}

/// Reads texts, one after the other.
pub(super) struct Reader {
    stemmer: Stemmer,
    /// The word at hand in lower case: one allocation serves all texts.
    lower: String,
    /// The terms of words that came before; a stop word has none.
    known: HashMap<Box<str>, Option<Box<str>>>,
    remembers: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StopWords {
    Skip,
    Keep,
}

impl Reader {
    /// A reader for one text.
    pub(super) fn new() -> Self {
        let stemmer = Stemmer::new(Algorithm::English);
        Self { stemmer, lower: String::new(), known: HashMap::new(), remembers: false }
    }

    /// A reader for many texts: it remembers their vocabulary, which makes it faster.
    pub(super) fn for_many() -> Self {
        Self { remembers: true, ..Self::new() }
    }

    /// Calls `found` with each term of a text (the term, the word as written, the kind), in order,
    /// and says whether all its words are stop words.
    pub(super) fn each_term(&mut self, text: &str, mut found: impl FnMut(&str, &str, TermKind)) -> bool {
        self.read(text, StopWords::Skip, &mut found) == 0 && self.read(text, StopWords::Keep, &mut found) > 0
    }

    /// Calls `found` as `each_term` does, and counts the terms.
    fn read(
        &mut self,
        text: &str,
        stop_words: StopWords,
        mut found: impl FnMut(&str, &str, TermKind),
    ) -> usize {
        let mut count = 0;
        let mut whole_is_term = false;
        each_piece(&normal_form(text), |written, kind| {
            if kind == TermKind::Part && !whole_is_term {
                return;
            }
            let is_term = self.with_term(written, stop_words, |term| found(term, written, kind));
            count += usize::from(is_term);
            if kind == TermKind::Word {
                whole_is_term = is_term;
            }
        });
        count
    }

    /// Calls `found` with the term that a piece of text is, and says whether it is one: a stop word
    /// to skip is not.
    fn with_term(&mut self, written: &str, stop_words: StopWords, found: impl FnMut(&str)) -> bool {
        lower_case(written, &mut self.lower);
        let lower = beginning(&self.lower);
        let skips = stop_words == StopWords::Skip;
        if skips && let Some(known) = self.known.get(lower) {
            known.as_deref().into_iter().for_each(found);
            return known.is_some();
        }
        let term = (!(skips && is_stop_word(lower)))
            .then(|| if has_stem(lower) { self.stemmer.stem(lower) } else { Cow::Borrowed(lower) });
        term.as_deref().into_iter().for_each(found);
        let is_term = term.is_some();
        if skips && self.remembers {
            self.known.insert(lower.into(), term.map(Into::into));
        }
        is_term
    }
}

fn normal_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Writes the word into `lower` in lower case, with `'` for any apostrophe.
fn lower_case(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        let straight = |c| if c == '\u{2019}' { '\'' } else { c };
        lower.extend(word.chars().flat_map(char::to_lowercase).map(straight));
    }
}

/// Whether a word in lower case is one of letters, in a script with words for a stemmer.
fn has_stem(lower: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'\'' || !byte.is_ascii();
    lower.bytes().all(is_letter) && !lower.starts_with(is_unspaced)
}
