//! Splits text into words.

use std::cell::Cell;

use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::{
    chars::{ascii_word, is_unspaced, is_word, span},
    language::{Language, WORD_BYTES, is_stop, unspaced_stop},
};

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word as it is written.
    pub text: &'a str,
    /// Where it starts, in bytes.
    pub start: usize,
    /// Whether it says nothing about the subject: an article, a pronoun, an auxiliary.
    pub is_stop: bool,
    /// Equal for words of one stem, whatever their case and encoding; the same on every machine. 0 for words that say
    /// nothing.
    pub concept: u64,
}

/// The words of a text, in order, by the language that the text shows.
///
/// - A word is a run of letters and digits. An apostrophe joins letters (`it's`), except in French and Italian
///   (`l'eau`); a point or comma joins digits. Every other mark separates.
/// - Scripts without spaces yield each pair of neighbouring characters.
/// - Identifiers come in parts; see [`entities()`](crate::entities()) for the whole.
pub fn words(text: &str) -> Words<'_> {
    words_in(text, Language::of(text, Language::English))
}

/// The words of a text that is in `language`, except for words in another script.
pub fn words_in(text: &str, language: Language) -> Words<'_> {
    Words { text, language, at: 0, paired: false, stopped: 0, lower: String::with_capacity(WORD_BYTES) }
}

/// The words of a text; see [`words()`].
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a str,
    language: Language,
    at: usize,
    /// The character at `at` was the second of a pair.
    paired: bool,
    /// Up to where a stop word of a script without spaces goes.
    stopped: usize,
    /// The last word in lower case.
    lower: String,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        loop {
            self.at += span(&self.text[self.at..], |c| !is_unspaced(c) && !is_word(c));
            let c = self.text[self.at..].chars().next()?;
            if !is_unspaced(c) {
                return Some(self.run());
            }
            if let Some(pair) = self.pair(c) {
                return Some(pair);
            }
        }
    }
}

impl<'a> Words<'a> {
    /// The pair of characters that starts with `c`. A single character is a word only on its own.
    fn pair(&mut self, c: char) -> Option<Word<'a>> {
        let (start, second) = (self.at, self.at + c.len_utf8());
        let next = self.text[second..].chars().next().filter(|next| is_unspaced(*next));
        let was_paired = std::mem::replace(&mut self.paired, next.is_some());
        self.at = second;
        if next.is_none() && was_paired {
            return None;
        }
        let end = second + next.map_or(0, char::len_utf8);
        let is_stop = self.stops(start) | (next.is_some() && self.stops(second));
        let text = &self.text[start..end];
        let lower = self.lower(text).as_bytes();
        Some(Word { text, start, is_stop, concept: if is_stop { 0 } else { xxh3_64(lower) } })
    }

    /// Whether the character at `at` is part of a stop word.
    fn stops(&mut self, at: usize) -> bool {
        if at >= self.stopped {
            self.stopped = at + unspaced_stop(&self.text[at..]).unwrap_or(0);
        }
        at < self.stopped
    }

    /// The run of letters and digits that starts here.
    fn run(&mut self) -> Word<'a> {
        let start = self.at;
        self.at = end_of_run(self.text, start, !self.language.elides());
        let text = &self.text[start..self.at];
        let language = Language::of_script(text).unwrap_or(self.language);
        // most words are in lower case
        let is_lower = text.bytes().all(|byte| byte.is_ascii_lowercase());
        let lower = if is_lower { text } else { self.lower(text) };
        let concept = concept(lower, language);
        Word { text, start, is_stop: concept == 0, concept }
    }

    fn lower(&mut self, word: &str) -> &str {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
        } else {
            self.lower.extend(word.nfkc().flat_map(char::to_lowercase).map(straight));
        }
        &self.lower
    }
}

/// So many of the last words are remembered on each thread: talk repeats itself, and a stem takes ten times as long.
const REMEMBERED: usize = 1 << 11;

thread_local! {
    /// The concepts of words, each at the place that its hash, which comes first, tells.
    static CONCEPTS: [Cell<(u64, u64)>; REMEMBERED] = const { [const { Cell::new((0, 0)) }; REMEMBERED] };
}

/// The concept of a word in lower case; 0 for a stop word.
fn concept(word: &str, language: Language) -> u64 {
    let hash = xxh3_64_with_seed(word.as_bytes(), language as u64 + 1);
    CONCEPTS.with(|known| {
        let known = &known[hash as usize % REMEMBERED];
        let (of, concept) = known.get();
        if of == hash {
            return concept;
        }
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let concept = match is_stop(word, language) {
            true => 0,
            false if is_number => xxh3_64(word.as_bytes()),
            false => xxh3_64(language.stem(word).as_bytes()),
        };
        known.set((hash, concept));
        concept
    })
}

fn straight(c: char) -> char {
    if c == '’' { '\'' } else { c }
}

/// Where the run of word characters ends that starts at `start`.
fn end_of_run(text: &str, start: usize, joins: bool) -> usize {
    let mut end = start + ascii_word(&text[start..]);
    // most words end before a blank
    if text.as_bytes().get(end) == Some(&b' ') {
        return end;
    }
    loop {
        end += span(&text[end..], |c| is_word(c) && !is_unspaced(c));
        let mut rest = text[end..].chars();
        let (Some(mark), Some(next)) = (rest.next(), rest.next()) else { return end };
        let before = text[start..end].chars().next_back().unwrap_or(' ');
        let goes_on = match mark {
            '\'' | '’' => joins && before.is_alphabetic() && next.is_alphabetic(),
            '.' | ',' => before.is_ascii_digit() && next.is_ascii_digit(),
            _ => false,
        };
        if !goes_on {
            return end;
        }
        end += mark.len_utf8();
    }
}

#[cfg(test)]
mod tests;
