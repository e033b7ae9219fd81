//! Splits text into words, with their ranges and kinds.

use unicode_segmentation::UnicodeSegmentation;

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
}

/// Calls `found` with the words of a text, in order.
///
/// Spaces and the punctuation of sentences and paths separate words. Characters allowed inside an identifier
/// (`_ - . , '` between letters and digits) do not.
pub(super) fn each_word(text: &str, mut found: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = match CLASSES[usize::from(bytes[at])] {
            FOREIGN => foreign(text, at, &mut found),
            LOWER | UPPER | DIGIT => spaced(text, at, &mut found),
            _ => at + 1,
        }
    }
}

/// Reads a word that begins with an ASCII letter or digit; returns where the text continues.
fn spaced(text: &str, start: usize, found: &mut impl FnMut(Word)) -> usize {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(OTHER, |&byte| CLASSES[usize::from(byte)]);
    let first = class(start);
    let (mut end, mut rest) = (start + 1, 0);
    loop {
        let class = class(end);
        if class & (LOWER | UPPER | DIGIT) == 0 {
            // A word that merely begins in ASCII, such as `señor`.
            if class == FOREIGN {
                return foreign(text, start, found);
            }
            if class == OTHER || !goes_on(bytes, end) {
                break;
            }
        }
        rest |= class;
        end += 1;
    }
    let all = first | rest;
    let has_marks = all & MARK != 0;
    let is_mixed = all & DIGIT != 0 && all & (LOWER | UPPER) != 0;
    // Inner capitals, unless the word is all capitals.
    let has_hump = rest & UPPER != 0 && all & LOWER != 0;
    let has_parts = has_marks || is_mixed || has_hump;
    found(Word { start, end, kind: if has_parts { WordKind::Identifier } else { WordKind::Plain } });
    end
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
            128.. => FOREIGN,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
};

/// Whether `byte` can join the letters and digits of one word.
fn joins(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b',' | b'\'')
}

/// Whether the word continues after the mark at `at`: after a comma only between digits, not after the full
/// stop of a sentence.
fn goes_on(bytes: &[u8], at: usize) -> bool {
    let (Some(before), Some(after)) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + 1)) else {
        return false;
    };
    match bytes[at] {
        b'_' => after.is_ascii_alphanumeric() || *after == b'_',
        b',' => before.is_ascii_digit() && after.is_ascii_digit(),
        b'.' => after.is_ascii_lowercase() || after.is_ascii_digit(),
        _ => after.is_ascii_alphanumeric(),
    }
}

/// Reads from `start` up to the next white space or ASCII mark that ends a word; returns where the text
/// continues.
fn foreign(text: &str, start: usize, found: &mut impl FnMut(Word)) -> usize {
    let ends = |c: char| c.is_whitespace() || (c.is_ascii() && !c.is_ascii_alphanumeric() && !joins(c as u8));
    let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
    let mut at = start;
    while at < end {
        let run = text[at..end].find(is_unspaced).map_or(end, |length| at + length);
        for (offset, word) in text[at..run].unicode_word_indices() {
            spaced_foreign(at + offset, word, found);
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

/// Whether a character belongs to a script without spaces between words (Thai, Lao, Burmese, Khmer, kana,
/// bopomofo, Han) or to hangul.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E01}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECE}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{109D}' | '\u{1780}'..='\u{17D3}'
        | '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{AC00}'..='\u{D7FB}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{312F}' | '\u{3131}'..='\u{318E}' | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' | '\u{20000}'..='\u{3FFFF}')
}
