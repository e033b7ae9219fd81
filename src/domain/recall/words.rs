//! Text to words: where they stand, and of what kind they are.

use unicode_segmentation::UnicodeSegmentation;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    pub kind: WordKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    /// Of letters, or of digits alone.
    Plain,
    /// With marks, digits and letters, or capitals inside: it has parts.
    Identifier,
    /// A run of a script whose words no space parts.
    Unspaced,
}

/// Calls `found` with the words of a text, in order.
///
/// Spaces and the marks of sentences and of paths part words. What may stand inside an identifier (`_ - . , ' & +` and
/// the like between letters and digits) does not.
pub(super) fn each_word(text: &str, mut found: impl FnMut(Word)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii() {
            at = foreign(text, at, &mut found);
        } else if bytes[at].is_ascii_alphanumeric() {
            at = spaced(text, at, &mut found);
        } else {
            at += 1;
        }
    }
}

/// A word that begins with an ASCII letter or digit; answers where the text goes on.
fn spaced(text: &str, start: usize, found: &mut impl FnMut(Word)) -> usize {
    let bytes = text.as_bytes();
    let (mut end, mut has_marks) = (start, false);
    let (mut has_digits, mut has_letters, mut has_hump) = (false, false, false);
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'a'..=b'z' => has_letters = true,
            b'A'..=b'Z' => {
                has_hump |= end > start;
                has_letters = true;
            }
            b'0'..=b'9' => has_digits = true,
            _ if byte.is_ascii() && joins(byte) && goes_on(bytes, end) => has_marks |= byte != b'\'',
            _ if byte.is_ascii() => break,
            // A word that only begins in ASCII, such as `señor`.
            _ => return foreign(text, start, found),
        }
        end += 1;
    }
    let is_shout = has_hump && bytes[start..end].iter().all(|byte| !byte.is_ascii_lowercase());
    let has_parts = has_marks || (has_digits && has_letters) || (has_hump && !is_shout);
    found(Word { start, end, kind: if has_parts { WordKind::Identifier } else { WordKind::Plain } });
    end
}

/// What may stand between the letters and digits of one word.
fn joins(byte: u8) -> bool {
    matches!(byte, b'_' | b'-' | b'.' | b',' | b'\'')
}

/// Whether the word goes on behind the mark at `at`: a comma only between digits, a point not behind a sentence.
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

/// What begins at `start` up to the next white space or mark of ASCII that ends a word; answers where the text goes on.
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

/// A word of UAX #29 with a letter beyond ASCII near it.
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

/// Whether a character belongs to a script whose words no space parts: Thai, Lao, Burmese, Khmer, kana, bopomofo, Han;
/// or to hangul.
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
