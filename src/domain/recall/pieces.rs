//! Text to pieces: its words, the parts of its identifiers, its pairs of unspaced characters.

use smallvec::SmallVec;
use unicode_segmentation::UnicodeSegmentation;

/// The longest term, in bytes of UTF-8: room for a SHA-256 in hexadecimal.
pub const MAX_TERM_BYTES: usize = 64;

/// How a term comes from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A word, a whole identifier, or a pair of characters of an unspaced script.
    Word,
    /// A part of the identifier that comes just before.
    Part,
    /// One character of a longer run of an unspaced script.
    Character,
}

/// Calls `found` with each piece of a text in NFKC, in order.
pub(super) fn each_piece(text: &str, mut found: impl FnMut(&str, TermKind)) {
    let mut rest = text;
    while !rest.is_empty() {
        let (spaced, tail) = rest.split_at(spaced_bytes(rest));
        spaced.unicode_words().for_each(|word| word_pieces(word, &mut found));
        let (run, tail) = tail.split_at(tail.find(|c| !is_unspaced(c)).unwrap_or(tail.len()));
        unspaced_pieces(run, &mut found);
        rest = tail;
    }
}

/// How many bytes stand before the first character of an unspaced script.
fn spaced_bytes(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.find(is_unspaced).unwrap_or(text.len())
}

/// A word of UAX #29: the whole, then its parts if it has several.
fn word_pieces(word: &str, found: &mut impl FnMut(&str, TermKind)) {
    let word = word.trim_matches('_');
    found(beginning(word), TermKind::Word);
    if word.len() <= MAX_TERM_BYTES {
        let parts = parts(word);
        if parts.len() > 1 {
            parts.into_iter().for_each(|part| found(part, TermKind::Part));
        }
    }
}

/// A run of an unspaced script: each character, and each pair of neighbours.
fn unspaced_pieces(run: &str, found: &mut impl FnMut(&str, TermKind)) {
    let mut before = None;
    for (start, c) in run.char_indices() {
        let end = start + c.len_utf8();
        let alone = end - start == run.len();
        let kind = if alone { TermKind::Word } else { TermKind::Character };
        found(&run[start..end], kind);
        if let Some(before) = before.replace(start) {
            found(&run[before..end], TermKind::Word);
        }
    }
}

/// As much of a word as makes a term.
pub(super) fn beginning(word: &str) -> &str {
    let mut end = word.len().min(MAX_TERM_BYTES);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}

/// The parts of an identifier: between its separators and at its changes of case.
fn parts(word: &str) -> SmallVec<[&str; 8]> {
    let mut parts = SmallVec::new();
    if word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) {
        return parts;
    }
    for piece in word.split(is_separator) {
        let mut start = 0;
        let mut before = None;
        let mut chars = piece.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|&(_, after)| after);
            if before.is_some_and(|before| starts_part(before, c, after)) {
                parts.push(&piece[start..at]);
                start = at;
            }
            before = Some(c);
        }
        parts.push(&piece[start..]);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// What may stand inside a word of UAX #29 and ends a part of it.
fn is_separator(c: char) -> bool {
    matches!(c, '_' | '.' | ':' | ',' | ';')
}

/// `getUser` changes at its `U`, `HTTPServer` at its `S`, `utf8String` at its `S`.
fn starts_part(before: char, c: char, after: Option<char>) -> bool {
    let opens_word = || after.is_some_and(char::is_lowercase);
    c.is_uppercase() && (before.is_lowercase() || (before.is_alphanumeric() && opens_word()))
}

/// Whether a character belongs to a script whose words no space parts: Thai, Lao, Burmese, Khmer,
/// kana, bopomofo, Han; or to hangul.
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
