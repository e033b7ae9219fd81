//! Finds the few words of a long text that might be names or numbers, and skips the rest quickly.

use std::ops::Range;

/// The places of words that contain a digit, a capital after a small letter, or a joint: `v2`, `camelCase`,
/// `src/main.rs`.
pub(in crate::extractive) struct Runs<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The classes of bytes.
mod class {
    pub const NONE: u8 = 0;
    pub const SMALL: u8 = 1;
    pub const CAPITAL: u8 = 2;
    pub const DIGIT: u8 = 4;
    /// Allowed within words, and makes them a name: `_ . / @ : \\`.
    pub const JOINT: u8 = 8;
    /// Allowed within words: `-`, a currency sign, a letter beyond ASCII.
    pub const INNER: u8 = 16;
}

static CLASSES: [u8; 256] = {
    let mut classes = [class::NONE; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => class::SMALL,
            b'A'..=b'Z' => class::CAPITAL,
            b'0'..=b'9' => class::DIGIT,
            b'_' | b'.' | b'/' | b'@' | b':' | b'\\' => class::JOINT,
            b'-' | b'#' | b'+' | b'%' | b'$' | b'\'' | 0x80.. => class::INNER,
            _ => class::NONE,
        };
        byte += 1;
    }
    classes
};

impl<'a> Runs<'a> {
    pub(in crate::extractive) fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0 }
    }

    /// The next word, and whether it might be a name or a number.
    fn run(&mut self) -> Option<(Range<usize>, bool)> {
        let start =
            self.at + self.bytes[self.at..].iter().position(|byte| CLASSES[usize::from(*byte)] > 0)?;
        let (mut seen, mut before, mut tells) = (0u8, 0u8, false);
        let mut at = start;
        while let Some(byte) = self.bytes.get(at) {
            let mut class = CLASSES[usize::from(*byte)];
            if class == class::NONE {
                let next = self.bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
                if !(*byte == b',' && before == class::DIGIT && next) {
                    break;
                }
                class = class::INNER;
            }
            let is_letter = class < class::JOINT;
            tells |= class == class::DIGIT
                || class == class::CAPITAL && before == class::SMALL
                || before == class::JOINT && is_letter && seen & !(class::JOINT | class::INNER) > 0
                || before == class::JOINT && is_letter && self.bytes[at - 1] == b'/';
            (seen, before) = (seen | class, class);
            at += 1;
        }
        self.at = at;
        Some((start..at, tells))
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if let (run, true) = self.run()? {
                return Some(run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_found_among_words() {
        let text = "See src/main.rs, it's well-known: HAT084 or agentSession, a_b and $1,250. End.";
        let found: Vec<&str> = Runs::of(text).map(|run| &text[run]).collect();
        assert_eq!(found, ["src/main.rs", "HAT084", "agentSession", "a_b", "$1,250."]);
    }

    #[test]
    fn other_scripts_are_parted_at_characters() {
        let text = "Größe 12cm, 5月14日、見る";
        let found: Vec<&str> = Runs::of(text).map(|run| &text[run]).collect();
        assert_eq!(found, ["12cm", "5月14日、見る"]);
    }
}
