//! Splits text into terms: what an utterance can be found by.
//!
//! - A word of letters yields its stem, without accents, in the language of its script or, for Latin letters,
//!   in the language that most stop words of its text belong to.
//! - A stop word of that language yields no term, unless capitals show that it is a name (`IT`, `Them`).
//! - An identifier (`create_order`, `getUserById`, `queue.rs`, `1.2.3`, `HAT-136`) yields a term for the
//!   whole, without punctuation, and one for each of its parts. Paths and addresses yield one for all their words.
//! - Groups of digits yield a term of all digits, and those of a phone number one of the last seven.
//! - A run in a script without spaces, or in Korean, which inflects within words, yields each pair of
//!   neighbouring characters, and each character that is a word by itself.
//! - A term is at most [`MAX_TERM_BYTES`] long: a longer word yields only its beginning, and no parts.
//!
//! The work is linear in the text.

use std::ops::Range;

use utterd_text::{Language, stops, unspaced_stop};

use super::{
    capitals::is_name,
    groups::Groups,
    identifiers::{MAX_TERM_BYTES, each_part, whole},
    language::guess,
    stem::{are_words, beginning, folded, has_digit, lower_case, normal_form, stem_of},
    term::{Term, TermKind},
    vocabulary::{Entry, Vocabulary},
    words::{Word, WordKind, are_joined, each_word, joined},
};

/// How to treat stop words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StopWords {
    Skip,
    Keep,
}

/// Reads texts one after another and remembers their vocabulary.
#[derive(Default)]
pub(super) struct Reader {
    /// The current word, in lower case.
    lower: String,
    term: String,
    /// The words of the current text.
    words: Vec<(Word, Entry)>,
    vocabulary: Vocabulary,
}

impl Reader {
    /// Reads a text, whose terms [`each_term`](Self::each_term) then yields. Returns the language of its
    /// words in Latin letters, or `before` if it is unclear.
    pub(super) fn read(&mut self, text: &str, before: Language) -> Language {
        self.look_up(text);
        let stops = self.words.iter().filter(|(word, _)| word.kind == WordKind::Plain);
        guess(stops.map(|(_, known)| known.stops), before)
    }

    /// Announces that the following terms are for another block of an index.
    pub(super) fn begin_block(&mut self) {
        self.vocabulary.begin_block();
    }

    /// Calls `found` with each term, in order, of the text last read, in the given language.
    pub(super) fn each_term(
        &mut self,
        text: &str,
        language: Language,
        stop_words: StopWords,
        mut found: impl FnMut(Term<'_>),
    ) {
        let words = std::mem::take(&mut self.words);
        let mut groups = Groups::default();
        for &(word, known) in &words {
            groups.see(text, word, &mut found);
            match word.kind {
                WordKind::Plain => self.plain(text, word, known, (language, stop_words), &mut found),
                WordKind::Identifier
                    if stop_words == StopWords::Skip && is_stop_phrase(text, word, language) => {}
                WordKind::Identifier => self.identifier(text, word, language, &mut found),
                WordKind::Unspaced => unspaced(text, word, stop_words, &mut found),
                WordKind::Joined => self.joined(text, word, &mut found),
            }
        }
        groups.end(&mut found);
        self.words = words;
    }

    /// Finds the words of a text and looks them up in the vocabulary.
    fn look_up(&mut self, text: &str) {
        self.vocabulary.bound();
        self.words.clear();
        let Self { words, vocabulary, lower, .. } = self;
        let (mut run, mut end) = (None, 0);
        each_word(text, |word| {
            let known = match word.kind {
                WordKind::Plain => vocabulary.find_short(text, word.start..word.end).unwrap_or_else(|| {
                    lower_case(&text[word.start..word.end], lower);
                    vocabulary.entry(beginning(lower))
                }),
                _ => Entry::default(),
            };
            if are_joined(text, end..word.start) {
                run = run.or(words.len().checked_sub(1));
            } else if let Some(first) = run.take() {
                join(text, words, first);
            }
            end = word.end;
            words.push((word, known));
        });
        run.into_iter().for_each(|first| join(text, words, first));
    }

    fn plain(
        &mut self,
        text: &str,
        word: Word,
        known: Entry,
        (language, stop_words): (Language, StopWords),
        found: &mut impl FnMut(Term<'_>),
    ) {
        let range = word.start..word.end;
        let written = &text[range.clone()];
        let language = Language::of_script(written).unwrap_or(language);
        if known.stops.contains(language) {
            if written.as_bytes()[0].is_ascii_uppercase() && is_name(text, range.clone(), language) {
                let text = &written.to_ascii_uppercase();
                found(Term { text, range: range.clone(), kind: TermKind::Word, number: None });
            }
            if stop_words == StopWords::Skip {
                return;
            }
        }
        let (stem, number) = self.vocabulary.stem(known, language, || {
            lower_case(written, &mut self.lower);
            stem_of(&self.lower, language)
        });
        if !stem.is_empty() {
            found(Term { text: stem, range, kind: TermKind::Word, number: Some(number) });
        }
    }

    fn identifier(&mut self, text: &str, word: Word, language: Language, found: &mut impl FnMut(Term<'_>)) {
        let range = word.start..word.end;
        let written = normal_form(&text[range.clone()]);
        let mut term = std::mem::take(&mut self.term);
        whole(&folded(&written), &mut term);
        if are_words(&written) {
            let known = self.vocabulary.entry(&term);
            let (text, number) = self.vocabulary.stem(known, language, || stem_of(&term, language));
            found(Term { text, range: range.clone(), kind: TermKind::Whole, number: Some(number) });
        } else if !term.is_empty() {
            found(Term { text: &term, range: range.clone(), kind: TermKind::Whole, number: None });
        }
        if written.len() <= MAX_TERM_BYTES {
            each_part(&written, &term, |part| {
                let (range, kind) = (range.clone(), TermKind::Part);
                lower_case(part, &mut self.lower);
                let lower = &self.lower;
                if has_digit(lower) {
                    // It is its own stem, and seldom worth remembering.
                    return found(Term { text: beginning(lower), range, kind, number: None });
                }
                let known = self.vocabulary.entry(beginning(lower));
                if !known.stops.contains(language) {
                    let (text, number) = self.vocabulary.stem(known, language, || stem_of(lower, language));
                    found(Term { text, range, kind, number: Some(number) });
                }
            });
        }
        self.term = term;
    }

    fn joined(&mut self, text: &str, word: Word, found: &mut impl FnMut(Term<'_>)) {
        let range = word.start..word.end;
        whole(&folded(&normal_form(&text[range.clone()])), &mut self.term);
        found(Term { text: &self.term, range, kind: TermKind::Joined, number: None });
    }
}

/// Adds behind the words from `first` on the identifier that they form, if any.
fn join(text: &str, words: &mut Vec<(Word, Entry)>, first: usize) {
    let joined = joined(text, words[first..].iter().map(|(word, _)| *word));
    words.extend(joined.map(|joined| (joined, Entry::default())));
}

/// Whether a hyphenated word consists of stop words, as in French questions: `a-t-il`, `faut-il`.
fn is_stop_phrase(text: &str, word: Word, language: Language) -> bool {
    let mut parts = text[word.start..word.end].split('-');
    parts.all(|part| {
        stops(&part.to_lowercase()).contains(language)
            || (part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_lowercase()))
    })
}

/// The terms of a run in an unspaced script: between its stop words, each pair of neighbours, and each
/// character that can be a word.
fn unspaced(text: &str, word: Word, stop_words: StopWords, found: &mut impl FnMut(Term<'_>)) {
    let run = &text[word.start..word.end];
    let normal = normal_form(run);
    // If normalisation moved the characters, the match is the whole run.
    let offset = (normal.len() == run.len()).then_some(word.start);
    let range = |part: Range<usize>| match offset {
        Some(offset) => offset + part.start..offset + part.end,
        None => word.start..word.end,
    };
    let (mut at, mut begins) = (0, 0);
    while at < normal.len() {
        let stop = if stop_words == StopWords::Skip { unspaced_stop(&normal[at..]) } else { None };
        if let Some(length) = stop {
            pairs(&normal, begins..at, range, found);
            begins = at + length;
        }
        at += stop.or_else(|| normal[at..].chars().next().map(char::len_utf8)).unwrap_or(1);
    }
    pairs(&normal, begins..at, range, found);
}

fn pairs(
    text: &str,
    part: Range<usize>,
    range: impl Fn(Range<usize>) -> Range<usize>,
    found: &mut impl FnMut(Term<'_>),
) {
    let mut before = None;
    for (offset, c) in text[part.clone()].char_indices() {
        let start = part.start + offset;
        let end = start + c.len_utf8();
        let is_alone = part.len() == c.len_utf8();
        if is_alone || is_ideograph(c) {
            let kind = if is_alone { TermKind::Word } else { TermKind::Character };
            found(Term { text: &text[start..end], range: range(start..end), kind, number: None });
        }
        if let Some(before) = before.replace(start) {
            found(Term {
                text: &text[before..end],
                range: range(before..end),
                kind: TermKind::Pair,
                number: None,
            });
        }
    }
}

/// Whether a character of an unspaced script has a meaning by itself.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
