//! Caches words, so that each is looked up and stemmed only once.

use std::{cell::Cell, ops::Range};

use hashbrown::HashMap;

use utterd_text::{Language, Languages, stops};

/// The most words kept: beyond this the cache starts over, so that no text can make it grow.
const MAX_WORDS: usize = 1 << 16;

/// Words in lower case.
#[derive(Default)]
pub(super) struct Vocabulary {
    short: HashMap<u128, Entry>,
    long: HashMap<Box<str>, Entry>,
    stems: Vec<Stem>,
    /// The number of the current block, counted from the first one read.
    block: u32,
}

/// A word in the vocabulary.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry {
    place: u32,
    /// The languages in which it is a stop word.
    pub stops: Languages,
}

/// The stem of a word, in the language last asked for.
#[derive(Default)]
struct Stem {
    language: Option<Language>,
    text: Box<str>,
    /// The stem's number in an index block, and that block.
    number: Cell<Option<(u32, u32)>>,
}

/// A stem's number in the index block that utterances are being added to, if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    known: &'a Cell<Option<(u32, u32)>>,
    block: u32,
}

impl Number<'_> {
    pub(super) fn get(self) -> Option<u32> {
        self.known.get().filter(|(_, block)| *block == self.block).map(|(number, _)| number)
    }

    pub(super) fn set(self, number: u32) {
        self.known.set(Some((number, self.block)));
    }
}

impl Vocabulary {
    /// The entry of a word in a text, in any case, if it is short and known, and has only ASCII letters,
    /// digits and apostrophes.
    pub(super) fn find_short(&self, text: &str, range: Range<usize>) -> Option<Entry> {
        let length = range.len();
        let key = key(text, range).filter(|key| key & HIGH == 0)?;
        self.short.get(&(key | CAPITAL & MASKS[length])).copied()
    }

    /// The entry of a lower-case word, adding it if necessary.
    pub(super) fn entry(&mut self, word: &str) -> Entry {
        let key = key(word, 0..word.len());
        let known = match key {
            Some(key) => self.short.get(&key),
            None => self.long.get(word),
        };
        known.copied().unwrap_or_else(|| {
            let place = self.stems.len() as u32;
            let entry = Entry { place, stops: stops(word) };
            self.stems.push(Stem::default());
            match key {
                Some(key) => self.short.insert(key, entry),
                None => self.long.insert(word.into(), entry),
            };
            entry
        })
    }

    /// The stem of a word in a language; `stem` computes it if it is not cached.
    #[inline]
    pub(super) fn stem(
        &mut self,
        word: Entry,
        language: Language,
        stem: impl FnOnce() -> String,
    ) -> (&str, Number<'_>) {
        let known = &mut self.stems[word.place as usize];
        if known.language != Some(language) {
            *known = Stem { language: Some(language), text: stem().into(), number: Cell::default() };
        }
        (&known.text, Number { known: &known.number, block: self.block })
    }

    /// Starts another block, in which no term's number is known yet.
    pub(super) fn begin_block(&mut self) {
        self.bound();
        self.block += 1;
    }

    /// Starts over if the cache has grown too large: earlier entries become invalid.
    pub(super) fn bound(&mut self) {
        if self.stems.len() > MAX_WORDS || self.block == u32::MAX {
            *self = Self::default();
        }
    }
}

/// The bytes of a word shorter than 16 bytes, with its length: faster to look up than text on the heap.
#[inline]
fn key(text: &str, range: Range<usize>) -> Option<u128> {
    let length = range.len();
    if !(1..16).contains(&length) {
        return None;
    }
    let bytes = match text.as_bytes()[range.start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes) & MASKS[length],
        // Near the end of a text.
        None => text[range].bytes().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(byte)),
    };
    Some(bytes | (length as u128) << 120)
}

/// The first bytes, by their number.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut length = 1;
    while length < 16 {
        masks[length] = masks[length - 1] << 8 | 0xFF;
        length += 1;
    }
    masks
};

/// The highest bit of each byte.
const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);

/// The bit of each byte that tells small letters from capitals; digits and apostrophes have it too.
const CAPITAL: u128 = u128::from_ne_bytes([b'a' ^ b'A'; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_word_is_found_in_any_case_and_place() {
        let mut vocabulary = Vocabulary::default();
        let places = ["don't", "x86", "fifteen-letters"].map(|word| vocabulary.entry(word).place);
        let place = |text: &str, range| vocabulary.find_short(text, range).map(|known| known.place);
        assert_eq!(place("Don't stop here, please", 0..5), Some(places[0]));
        assert_eq!(place("I DON'T", 2..7), Some(places[0]));
        assert_eq!(place("on an X86 with nothing else", 6..9), Some(places[1]));
        assert_eq!(place("FIFTEEN-LETTERS", 0..15), Some(places[2]));
        assert_eq!(place("Don stop here, please", 0..3), None);
        assert_eq!(place("sixteen--letters", 0..16), None, "it is long");
    }
}
