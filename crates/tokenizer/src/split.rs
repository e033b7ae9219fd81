//! The split rules: how each encoding cuts text into pieces, which are encoded separately.

use regex_automata::{Anchored, Input, meta::Regex};

/// A rule as three alternatives, in order. For `\s+(?!\S)` in OpenAI's rule, the second alternative matches one more
/// character, which is then given back: so a finite automaton is enough, without lookahead.
type Rule = [&'static str; 3];

/// The index of the alternative that matches one more character.
const LOOKS_AHEAD: usize = 1;

const O200K: Rule = [
    concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
    ),
    r"\s+\s",
    r"\s+",
];

const CL100K: Rule = [
    concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$",
    ),
    r"\s+\s",
    r"\s+",
];

/// The rule of p50k and r50k.
const GPT3: Rule = [r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$", r"\s+\s", r"\s+"];

/// Cuts text into pieces, in time linear in the text.
pub(super) struct Splitter(Regex);

impl Splitter {
    pub(super) fn o200k() -> Self {
        Self::new(&O200K)
    }

    pub(super) fn cl100k() -> Self {
        Self::new(&CL100K)
    }

    pub(super) fn gpt3() -> Self {
        Self::new(&GPT3)
    }

    #[expect(clippy::expect_used, reason = "the rules are constants")]
    fn new(rule: &Rule) -> Self {
        Self(Regex::new_many(rule).expect("a valid rule"))
    }

    /// Returns the pieces of `text`, in order; together they are the whole text.
    pub(super) fn pieces<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (piece, behind) = rest.split_at(self.end(rest)?);
            rest = behind;
            Some(piece)
        })
    }

    /// Returns the end of the first piece of `text`.
    fn end(&self, text: &str) -> Option<usize> {
        let found = self.0.find(Input::new(text).anchored(Anchored::Yes))?;
        let given_back = match found.pattern().as_usize() {
            LOOKS_AHEAD => text[..found.end()].chars().next_back().map_or(0, char::len_utf8),
            _ => 0,
        };
        Some(found.end() - given_back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_of_a_text() {
        let text = "Ok, it's 12345!\r\n\r\n  \tdone\u{3000}\u{3000}ſ สวัสดี\u{301} a/b //\n\u{10ffff}  ";
        for splitter in [Splitter::o200k(), Splitter::cl100k(), Splitter::gpt3()] {
            let pieces: Vec<_> = splitter.pieces(text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
            assert_eq!(splitter.pieces("").count(), 0);
        }
    }

    #[test]
    fn white_space_leaves_its_last_character_to_what_follows() {
        let pieces = |text| Splitter::cl100k().pieces(text).map(String::from).collect::<Vec<_>>();
        assert_eq!(pieces("a   b"), ["a", "  ", " b"]);
        assert_eq!(pieces("a   "), ["a", "   "]);
        assert_eq!(pieces("a\t\u{3000}1"), ["a", "\t", "\u{3000}", "1"]);
    }
}
