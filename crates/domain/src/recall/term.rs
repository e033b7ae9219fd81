//! A term: what an utterance can be found by.

use std::ops::Range;

use super::vocabulary::Number;

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
    /// Several words as one identifier: they come before it.
    Joined,
    /// The last digits of a phone number.
    Phone,
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
    #[inline]
    pub(super) fn quarters(&self) -> usize {
        match self.kind {
            TermKind::Pair if self.text.chars().all(is_unspaced_letter) => 1,
            TermKind::Pair => 2,
            TermKind::Character | TermKind::Joined => 0,
            _ => 4,
        }
    }
}

/// Whether the character is of a script without spaces whose characters are less than a syllable: Thai, Lao,
/// Burmese and Khmer.
pub(super) fn is_unspaced_letter(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}
