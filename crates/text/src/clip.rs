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
    if span(text, is_inner) == text.len() && !text.contains("  ") {
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
/// - `count` is called some ten times, with no more than about 64 bytes for each token.
pub fn clip<'a>(text: &'a str, most: u32, count: &dyn Fn(&str) -> u32) -> Cow<'a, str> {
    let bytes = (most as usize + 1).saturating_mul(TOKEN_BYTES);
    let head = &text[..text.floor_char_boundary(bytes)];
    let tokens = count(head);
    if head.len() == text.len() && tokens <= most {
        return Cow::Borrowed(text);
    }
    let ends = word_ends(head);
    let fits = |words: usize| count(&cut(head, &ends, words)) <= most;
    let kept = longest(ends.len(), first_guess(ends.len(), most, tokens), fits);
    match kept {
        Some(words) => Cow::Owned(cut(head, &ends, words)),
        None => Cow::Borrowed(""),
    }
}

/// The first words of a text, with the mark of a cut.
fn cut(text: &str, ends: &[usize], words: usize) -> String {
    let end = words.checked_sub(1).map_or(0, |last| ends[last]);
    let mut said = text[..end].trim_end_matches([',', ';', ':', CUT]).to_owned();
    said.push(CUT);
    said
}

/// Where the words of a text end.
fn word_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
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

/// How many words fit, in proportion.
fn first_guess(words: usize, most: u32, tokens: u32) -> usize {
    (words as u64 * u64::from(most) / u64::from(tokens.max(1))) as usize
}

/// The greatest number up to `most` that fits, if even 0 does. Searches from `guess` in steps that double, and then
/// between the last two.
fn longest(most: usize, guess: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let guess = guess.min(most);
    let (mut low, mut high, mut step) = (0, most + 1, 1);
    if fits(guess) {
        low = guess;
        while low + step < high && fits(low + step) {
            low += step;
            step *= 2;
        }
        high = high.min(low + step);
    } else {
        high = guess;
        while high > step && !fits(high - step) {
            high -= step;
            step *= 2;
        }
        low = low.max(high.saturating_sub(step));
        if low == 0 && (high == 0 || !fits(0)) {
            return None;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests;
