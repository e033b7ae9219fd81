//! Splits text into terms: what an utterance can be found by.
//!
//! - A word of letters yields its stem, without accents, in the language of its script or, for Latin letters,
//!   in the language that most stop words of its text belong to.
//! - A stop word of that language yields no term.
//! - An identifier (`create_order`, `getUserById`, `queue.rs`, `1.2.3`, `HAT-136`) yields a term for the
//!   whole, without punctuation, and one for each of its parts.
//! - Digits that form a phone number yield a term of their last seven, however they are grouped.
//! - A run in a script without spaces, or in Korean, which inflects within words, yields each pair of
//!   neighbouring characters, and each character that is a word by itself.
//! - A term is at most [`MAX_TERM_BYTES`] long: a longer word yields only its beginning, and no parts.
//!
//! The work is linear in the text.

use std::{borrow::Cow, ops::Range};

use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfkc_quick};

use super::{
    identifiers::{each_part, whole},
    language::{
        languages::Language,
        stop_words::{guess, stops, unspaced_stop},
    },
    vocabulary::{Entry, Number, Vocabulary},
    words::{Word, WordKind, each_word},
};

/// The longest term, in bytes of UTF-8: enough for a SHA-256 in hexadecimal.
pub const MAX_TERM_BYTES: usize = 64;
/// The fewest digits in a phone number; this many of its last digits identify it.
const PHONE_DIGITS: usize = 7;
const MAX_PHONE_DIGITS: usize = 15;

/// How a term was derived from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermKind {
    /// A word.
    Word,
    /// A whole identifier; its parts follow.
    Whole,
    /// A part of the last identifier.
    Part,
    /// A pair of characters of an unspaced script.
    Pair,
    /// A single character of an unspaced script.
    Character,
}

/// A term with its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    pub text: &'a str,
    /// The bytes of the text it comes from.
    pub range: Range<usize>,
    pub kind: TermKind,
    /// The term's number, if the vocabulary remembers it.
    pub number: Option<Number<'a>>,
}

impl Term<'_> {
    /// How much of a word it is, in quarters: half a word for a pair of characters, a quarter in scripts of
    /// letters. A single character counts nothing, because it is in pairs too.
    pub(super) fn quarters(&self) -> usize {
        match self.kind {
            TermKind::Pair if self.text.chars().all(is_unspaced_letter) => 1,
            TermKind::Pair => 2,
            TermKind::Character => 0,
            _ => 4,
        }
    }
}

/// Whether the character is of a script without spaces whose characters are less than a syllable: Thai, Lao,
/// Burmese and Khmer.
pub(super) fn is_unspaced_letter(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

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
        let mut phone = Phone::default();
        for &(word, known) in &words {
            phone.see(text, word, &mut found);
            match word.kind {
                WordKind::Plain => self.plain(text, word, known, (language, stop_words), &mut found),
                WordKind::Identifier
                    if stop_words == StopWords::Skip && is_stop_phrase(text, word, language) => {}
                WordKind::Identifier => self.identifier(text, word, language, &mut found),
                WordKind::Unspaced => unspaced(text, word, stop_words, &mut found),
            }
        }
        phone.end(&mut found);
        self.words = words;
    }

    /// Finds the words of a text and looks them up in the vocabulary.
    fn look_up(&mut self, text: &str) {
        self.vocabulary.bound();
        self.words.clear();
        let Self { words, vocabulary, lower, .. } = self;
        each_word(text, |word| {
            let known = match word.kind {
                WordKind::Plain => vocabulary.find_short(text, word.start..word.end).unwrap_or_else(|| {
                    lower_case(&text[word.start..word.end], lower);
                    vocabulary.entry(beginning(lower))
                }),
                _ => Entry::default(),
            };
            words.push((word, known));
        });
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
        if stop_words == StopWords::Skip && known.stops.contains(language) {
            return;
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
        whole(beginning(&written), &mut term);
        let is_short = written.len() <= MAX_TERM_BYTES;
        let text = beginning(&term);
        if !text.is_empty() {
            found(Term { text, range: range.clone(), kind: TermKind::Whole, number: None });
        }
        if is_short {
            each_part(&written, text, |part| {
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
}

/// Whether a hyphenated word consists of stop words, as in French questions: `a-t-il`, `faut-il`.
fn is_stop_phrase(text: &str, word: Word, language: Language) -> bool {
    let mut parts = text[word.start..word.end].split('-');
    parts.all(|part| {
        stops(&part.to_lowercase()).contains(language)
            || (part.len() == 1 && part.bytes().all(|byte| byte.is_ascii_lowercase()))
    })
}

/// The term for a lower-case word.
pub(super) fn stem_of(lower: &str, language: Language) -> String {
    let word = beginning(lower);
    if has_digit(word) {
        return word.to_owned();
    }
    let word = without_elision(word);
    let plain = without_vowel_points(word);
    folded(&language.stem(&plain))
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// `école` of `l'école`, and `Caroline` of `Caroline's`.
fn without_elision(word: &str) -> &str {
    let Some((before, after)) = word.split_once('\'') else { return word };
    let elides = before.chars().count() <= 2 || before.ends_with("qu") || before.ends_with("ll");
    match after.chars().count() {
        0..3 => before,
        _ if elides => after,
        _ => word,
    }
}

/// Removes Arabic vowel points, which are usually not written.
fn without_vowel_points(word: &str) -> Cow<'_, str> {
    let is_point = |c: char| matches!(c, '\u{0640}' | '\u{064B}'..='\u{0652}' | '\u{0670}');
    match word.contains(is_point) {
        true => Cow::Owned(word.replace(is_point, "")),
        false => Cow::Borrowed(word),
    }
}

/// Removes the accents of Latin, Greek and Cyrillic letters.
pub(super) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let is_accent = |c: &char| matches!(c, '\u{0300}'..='\u{036F}') && is_combining_mark(*c);
    let plain = word.nfd().filter(|c| !is_accent(c)).nfc();
    let mut folded = String::with_capacity(word.len());
    for c in plain {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            _ => folded.push(c),
        }
    }
    folded
}

/// Writes the word to `lower` in lower case and NFKC, with `'` for any apostrophe.
pub(super) fn lower_case(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        let straight = |c| if matches!(c, '\u{2019}' | '\u{02BC}') { '\'' } else { c };
        lower.extend(normal_form(word).chars().flat_map(char::to_lowercase).map(straight));
    }
}

fn normal_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The beginning of a word, cut to the length of a term.
fn beginning(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_TERM_BYTES)]
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

/// Consecutive digits, with only the punctuation of phone numbers between groups.
#[derive(Default)]
struct Phone {
    digits: String,
    range: Range<usize>,
}

impl Phone {
    fn see(&mut self, text: &str, word: Word, found: &mut impl FnMut(Term<'_>)) {
        // A number begins with a digit.
        let is_apart = !text.as_bytes()[word.start].is_ascii_digit();
        if is_apart && self.digits.is_empty() {
            return;
        }
        let written = &text[word.start..word.end];
        if is_apart || !written.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.')) {
            return self.end(found);
        }
        let between = text.get(self.range.end..word.start).unwrap_or("");
        let is_near = between.len() <= 3
            && between.bytes().all(|byte| matches!(byte, b' ' | b'(' | b')' | b'/' | b'+'));
        if !is_near || self.digits.is_empty() {
            self.end(found);
            self.range.start = word.start;
        }
        self.digits.extend(written.chars().filter(char::is_ascii_digit));
        self.range.end = word.end;
    }

    fn end(&mut self, found: &mut impl FnMut(Term<'_>)) {
        if (PHONE_DIGITS..=MAX_PHONE_DIGITS).contains(&self.digits.len()) {
            let last = &self.digits[self.digits.len() - PHONE_DIGITS..];
            found(Term { text: last, range: self.range.clone(), kind: TermKind::Part, number: None });
        }
        self.digits.clear();
    }
}
