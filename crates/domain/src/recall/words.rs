//! Splits text into words, with their ranges and kinds.

use std::ops::Range;

use smallvec::SmallVec;
use unicode_segmentation::UnicodeSegmentation;
use utterd_text::is_unspaced;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where the word begins, in bytes.
    pub start: usize,
    /// Where the word ends.
    pub end: usize,
    pub kind: WordKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// Letters only, or digits only.
    Plain,
    /// Contains marks, both digits and letters, or inner capitals: it has parts.
    Identifier,
    /// A run in a script without spaces between words.
    Unspaced,
    /// Several words that marks join into one identifier, such as a path or an address. It follows these words.
    Joined,
}

/// Calls `found` with the words of a text, in order.
///
/// - Spaces and the punctuation of sentences and paths separate words. Characters allowed inside an identifier
///   (`_ - . , '` between letters and digits) do not, nor do a point before a name (`.env`) and the signs behind one
///   (`C++`, `C#`).
/// - An emoji or an arrow is a word.
pub(super) fn each_word(text: &str, mut found: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = match CLASSES[usize::from(bytes[at])] {
            FOREIGN => foreign(text, at, &mut found),
            class if class & (LOWER | UPPER | DIGIT) != 0 || class == MARK && begins_name(bytes, at) => {
                spaced(text, at, &mut found)
            }
            _ => at + 1,
        }
    }
}

/// The identifier that words form with the marks between them.
pub(super) fn joined(text: &str, mut words: impl DoubleEndedIterator<Item = Word> + Clone) -> Option<Word> {
    let mut all = words.clone();
    let (first, last) = (words.next()?, words.next_back()?);
    let is_one = all.any(|word| word.kind == WordKind::Identifier) || is_named(text, first, last);
    is_one.then_some(Word { start: first.start, end: last.end, kind: WordKind::Joined })
}

/// Whether only marks that join words, or letters and digits, stand between two.
pub(super) fn are_joined(text: &str, between: Range<usize>) -> bool {
    let between = &text.as_bytes()[between];
    let joins = |byte: &u8| CLASSES[usize::from(*byte)] & (JOINS | MARK) != 0 && *byte != b',';
    between.iter().all(joins) && (1..=MAX_JOINING).contains(&between.len())
}

/// Whether the marks between plain words make one name of them: not in `and/or`.
fn is_named(text: &str, first: Word, last: Word) -> bool {
    let joined = &text[first.start..last.end];
    let is_rooted = text[..first.start].ends_with(['/', '\\']);
    joined.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'@' | b'=' | b'&' | b'\\'))
        || joined.contains("::")
        || joined.matches('/').count() + usize::from(is_rooted) > 1
}

/// Whether the point at `at` begins a name: `.env`.
fn begins_name(bytes: &[u8], at: usize) -> bool {
    let is_after_blank = || {
        at.checked_sub(1).is_none_or(|at| {
            matches!(bytes[at], b'/' | b'(' | b'"' | b'\'' | b'`') || bytes[at].is_ascii_whitespace()
        })
    };
    bytes[at] == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) && is_after_blank()
}

/// The most marks between two words that they join: `://`.
const MAX_JOINING: usize = 3;

/// Whether a mark joins words.
pub(super) fn is_joining(mark: char) -> bool {
    mark.is_ascii() && CLASSES[mark as usize] == JOINS
}

/// Reads a word that begins with an ASCII letter or digit; returns where the text continues.
fn spaced(text: &str, start: usize, found: &mut impl FnMut(Word)) -> usize {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(OTHER, |&byte| CLASSES[usize::from(byte)]);
    let first = class(start);
    let (mut end, mut rest) = (start + 1, 0);
    let stop = loop {
        let class = class(end);
        if class & (LOWER | UPPER | DIGIT) == 0 {
            // A word that merely begins in ASCII, such as `señor`.
            if class == FOREIGN {
                return foreign(text, start, found);
            }
            if class & (MARK | APOSTROPHE) == 0 || !goes_on(bytes, end) {
                break class;
            }
        }
        rest |= class;
        end += 1;
    };
    let is_marked = stop == JOINS && (first | rest) & DIGIT == 0;
    let signs = if is_marked { signs(bytes, end) } else { 0 };
    end += signs;
    let all = first | rest;
    let has_marks = all & MARK != 0 || signs > 0;
    let is_mixed = all & DIGIT != 0 && all & (LOWER | UPPER) != 0;
    // Inner capitals, unless the word is all capitals.
    let has_hump = rest & UPPER != 0 && all & LOWER != 0;
    let has_parts = has_marks || is_mixed || has_hump;
    found(Word { start, end, kind: if has_parts { WordKind::Identifier } else { WordKind::Plain } });
    end
}

/// The length of the signs behind a name: `C++`, `C#`.
fn signs(bytes: &[u8], at: usize) -> usize {
    let length = match bytes.get(at..) {
        Some([b'+', b'+', ..]) => 2,
        Some([b'+' | b'#', ..]) => 1,
        _ => return 0,
    };
    let ends =
        bytes.get(at + length).is_none_or(|next| !next.is_ascii_alphanumeric() && !b"+#_".contains(next));
    if ends { length } else { 0 }
}

const OTHER: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
/// Joins letters and digits into one word and makes it an identifier.
const MARK: u8 = 8;
/// Joins letters into a word.
const APOSTROPHE: u8 = 16;
const FOREIGN: u8 = 32;
/// Joins words into one identifier.
const JOINS: u8 = 64;

/// The class of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'-' | b'.' | b',' => MARK,
            b'\'' => APOSTROPHE,
            b'/' | b':' | b'@' | b'#' | b'=' | b'&' | b'+' | b'\\' | b'?' | b'%' | b'~' => JOINS,
            128.. => FOREIGN,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// Whether the word continues after the mark at `at`: after a comma only between digits, not after the full
/// stop of a sentence.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    let (Some(before), Some(after)) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + 1)) else {
        return false;
    };
    match bytes[at] {
        b'_' => after.is_ascii_alphanumeric() || *after == b'_',
        b',' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => after.is_ascii_alphanumeric(),
    }
}

/// Reads from `start` up to the next white space or ASCII mark that ends a word; returns where the text
/// continues.
fn foreign(text: &str, start: usize, found: &mut impl FnMut(Word)) -> usize {
    if let Some(sign) = text[start..].chars().next().filter(|c| is_sign(*c)) {
        let end = start + sign.len_utf8();
        found(Word { start, end, kind: WordKind::Plain });
        return end;
    }
    let is_mark = |c: char| c.is_ascii() && matches!(CLASSES[c as usize], OTHER | JOINS);
    let ends = |c: char| c.is_whitespace() || is_mark(c) || is_sign(c);
    let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
    let mut at = start;
    while at < end {
        let run = text[at..end].find(is_unspaced).map_or(end, |length| at + length);
        let words = text[at..run].unicode_word_indices();
        let words: SmallVec<[_; 8]> =
            words.map(|(offset, word)| (at + offset, at + offset + word.len())).collect();
        // small digits begin a word of their own: `H₂O`
        for word in words.chunk_by(|one, next| one.1 == next.0) {
            let start = word[0].0;
            spaced_foreign(start, &text[start..word[word.len() - 1].1], found);
        }
        let after = text[run..end].find(|c| !is_unspaced(c)).map_or(end, |length| run + length);
        if run < after {
            found(Word { start: run, end: after, kind: WordKind::Unspaced });
        }
        at = after;
    }
    end.max(start + text[start..].chars().next().map_or(1, char::len_utf8))
}

/// Reads a UAX #29 word with a letter beyond ASCII nearby.
fn spaced_foreign(start: usize, word: &str, found: &mut impl FnMut(Word)) {
    let trimmed = word.trim_matches('_');
    let start = start + (word.len() - word.trim_start_matches('_').len());
    let marks = trimmed.contains(['_', '.', ',', ':', ';']);
    let digits = trimmed.contains(char::is_numeric) && trimmed.contains(char::is_alphabetic);
    let kind = if marks || digits { WordKind::Identifier } else { WordKind::Plain };
    if !trimmed.is_empty() {
        found(Word { start, end: start + trimmed.len(), kind });
    }
}

/// Whether a character is an emoji or an arrow, without the colours of skin.
fn is_sign(c: char) -> bool {
    matches!(c,
        '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{2600}'..='\u{2775}' | '\u{2794}'..='\u{27BF}'
        | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1FAFF}')
}
