//! Cuts text into blocks that are counted separately, and recognises plain blocks.

/// The minimum length of a block that is cut off, in bytes.
const BLOCK: usize = 512;

/// The longest run of one class of characters in a plain block, in characters. It bounds the
/// length of a piece, and so the time that the fast counter spends on merging it.
const LONGEST_RUN: usize = 48;

/// The blocks of a text, in order. Their token counts add up to that of the text.
///
/// By the split rules of o200k and cl100k, two kinds of cut are safe, whatever surrounds them:
/// - before a space that follows a visible ASCII character. A space always begins a piece or
///   follows white space, and only the rules for white space look at what comes after it;
/// - between an ASCII letter and an ASCII digit. Digits are only in pieces of digits.
pub(super) struct Blocks<'a> {
    rest: &'a str,
}

impl<'a> Blocks<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        // Both sides of a cut are ASCII, so the cut is a character boundary.
        let (block, rest) = self.rest.split_at(end_of_block(self.rest.as_bytes()));
        self.rest = rest;
        Some(block)
    }
}

fn end_of_block(text: &[u8]) -> usize {
    let tail = text.get(BLOCK..).unwrap_or_default();
    tail.windows(2).position(|pair| is_safe_cut(pair[0], pair[1])).map_or(text.len(), |at| BLOCK + at + 1)
}

fn is_safe_cut(before: u8, after: u8) -> bool {
    let before_space = after == b' ' && before.is_ascii_graphic();
    let letter_digit = before.is_ascii_alphabetic() && after.is_ascii_digit();
    let digit_letter = before.is_ascii_digit() && after.is_ascii_alphabetic();
    before_space || letter_digit || digit_letter
}

/// Whether the fast counter is exact and fast on this block: the block holds only characters of
/// the common scripts, and no long run without a boundary.
pub(super) fn is_plain(block: &str) -> bool {
    if block.is_ascii() { !has_long_ascii_run(block.as_bytes()) } else { is_plain_unicode(block) }
}

/// The class of a character. A piece is a run of one class, with at most one character before it,
/// and line ends or a contraction after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    /// A piece has at most three digits, so runs of digits need no limit.
    Digit,
    Space,
    Mark,
}

const fn ascii_class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t'..=b'\r' => Class::Space,
        _ => Class::Mark,
    }
}

/// Returns the class of a character of the common scripts; `None` for the others.
///
/// Two kinds of characters are left out because of the fast counter. After an apostrophe, the
/// split rules treat ſ (U+017F) as an `s`; the fast counter does not, and so counts ` I'ſ` wrong.
/// At each white space outside ASCII, it reads all of the remaining text, which is quadratic.
const fn class(c: char) -> Option<Class> {
    Some(match c {
        '\0'..='\x7f' => ascii_class(c as u8),
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{17e}' => Class::Letter,
        '\u{400}'..='\u{45f}' => Class::Letter,
        // Kana, ideographs, Hangul.
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' => Class::Letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => Class::Letter,
        '\u{ac00}'..='\u{d7a3}' => Class::Letter,
        '\u{a1}'..='\u{a9}' | '\u{ab}'..='\u{b1}' | '\u{b4}' | '\u{b6}'..='\u{b8}' | '\u{bb}' | '\u{bf}' => {
            Class::Mark
        }
        // Dashes, quotation marks, the ellipsis.
        '\u{2013}' | '\u{2014}' | '\u{2018}'..='\u{201d}' | '\u{2026}' => Class::Mark,
        // CJK and fullwidth punctuation.
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{30fb}' => Class::Mark,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => Class::Mark,
        // Pictographs and faces.
        '\u{1f300}'..='\u{1f64f}' => Class::Mark,
        _ => return None,
    })
}

/// Looks only at every [`LONGEST_RUN`]th byte and the run around it: a longer run cannot hide
/// between two of these bytes.
fn has_long_ascii_run(bytes: &[u8]) -> bool {
    let mut start = 0;
    while let Some(window) = bytes.get(start..=start + LONGEST_RUN) {
        let last = ascii_class(window[LONGEST_RUN]);
        match window.iter().rposition(|&b| ascii_class(b) != last) {
            Some(other) => start += other + 1,
            None if last == Class::Digit => start += LONGEST_RUN,
            None => return true,
        }
    }
    false
}

fn is_plain_unicode(block: &str) -> bool {
    let mut run = 0;
    let mut previous = None;
    for c in block.chars() {
        let class = class(c);
        run = if class == previous { run + 1 } else { 1 };
        if class.is_none() || (run > LONGEST_RUN && class != Some(Class::Digit)) {
            return false;
        }
        previous = class;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_where_a_piece_begins() {
        let sentence = "Meet me at 10am, gate 7b, said the ſ. ";
        let text = sentence.repeat(200);
        let blocks: Vec<&str> = Blocks::of(&text).collect();
        assert_eq!(blocks.concat(), text);
        assert!(blocks.len() > 5, "only {} blocks", blocks.len());
        for pair in blocks.windows(2) {
            let before = pair[0].as_bytes()[pair[0].len() - 1];
            assert!(is_safe_cut(before, pair[1].as_bytes()[0]), "{pair:?}");
            assert!((BLOCK..BLOCK + sentence.len()).contains(&pair[0].len()));
        }
    }

    #[test]
    fn text_without_a_safe_cut_is_one_block() {
        for unit in ["a", " ", "😀 ", ".\n", "5"] {
            assert_eq!(Blocks::of(&unit.repeat(5000)).count(), 1, "{unit:?}");
        }
    }

    #[test]
    fn common_scripts_are_plain() {
        for text in [
            "",
            "Hi, it's 10 o'clock!\r\n\tOk.",
            "Où est l’été ? — Là…",
            "Привет, как дела?",
            "今天天气很好，昨日は雨。좋아요",
            "Great 🎉",
            &"5".repeat(5000),
        ] {
            assert!(is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn rare_characters_and_long_runs_are_not_plain() {
        for text in ["สวัสดี", "it'ſ", "e\u{301}", "a\u{a0}b", "\u{3000}", "\u{10ffff}"] {
            assert!(!is_plain(text), "{text:?}");
        }
        for unit in ["a", " ", "-", "\n", "é", "的", "😀", "。"] {
            assert!(is_plain(&unit.repeat(LONGEST_RUN)), "{unit:?}");
            assert!(!is_plain(&unit.repeat(LONGEST_RUN + 1)), "{unit:?}");
            let hidden = format!("12 {} 34", unit.repeat(LONGEST_RUN + 1));
            assert!(!is_plain(&hidden), "{unit:?}");
        }
    }
}
