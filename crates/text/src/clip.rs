//! Shortens texts.

use std::borrow::Cow;

use crate::chars::{is_unspaced, span};

/// Marks a cut.
const CUT: char = '…';
/// No word of a text takes more bytes for a token: what is longer is not counted as a whole.
const TOKEN_BYTES: usize = 64;

/// A text on one line, without control characters and with one blank between words.
pub fn one_line(text: &str) -> String {
    let is_inner = |c: char| matches!(c, ' '..='~') || !c.is_ascii() && !c.is_whitespace() && !c.is_control();
    let is_plain = text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    if (is_plain || span(text, is_inner) == text.len()) && !text.contains("  ") {
        return text.trim_matches(' ').to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The longest beginning of a text that has at most `most` tokens, including the `…` that it ends in if it was cut.
///
/// - It is cut behind a word, and between characters only in scripts without spaces.
/// - It is `…` if the first word does not fit, and empty if that does not either.
/// - `count` is called some fifteen times, with no more than about 64 bytes for each token.
pub fn clip<'a>(text: &'a str, most: u32, count: &dyn Fn(&str) -> u32) -> Cow<'a, str> {
    let bytes = (most as usize + 1).saturating_mul(TOKEN_BYTES);
    let head = &text[..text.floor_char_boundary(bytes)];
    if head.len() == text.len() && count(head) <= most {
        return Cow::Borrowed(text);
    }
    let ends = word_ends(head);
    let fitting = ends.partition_point(|end| count(&cut(head, *end)) <= most);
    fitting.checked_sub(1).map_or(Cow::Borrowed(""), |last| Cow::Owned(cut(head, ends[last])))
}

/// A text up to a place, with the mark of a cut.
fn cut(text: &str, end: usize) -> String {
    let mut said = text[..end].trim_end_matches([',', ';', ':', CUT]).to_owned();
    said.push(CUT);
    said
}

/// The start of a text, and where its words end.
fn word_ends(text: &str) -> Vec<usize> {
    let mut ends = vec![0];
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ends_word = c.is_whitespace() || is_unspaced(before) || is_unspaced(c);
        if ends_word && !before.is_whitespace() {
            ends.push(at);
        }
        before = c;
    }
    ends
}

#[cfg(test)]
mod tests;
