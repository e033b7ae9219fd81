//! The language of a text, its stems and its function words.

mod irregular;
mod kinds;
mod stops;

pub use irregular::base_form;
pub use kinds::{Language, Languages};
pub(crate) use stops::is_stop;
pub use stops::{asking, everyday, stops, unspaced_stop};

use crate::chars::{is_word, span};

/// Hardly a word is longer.
pub(crate) const WORD_BYTES: usize = 32;
/// The language is guessed from the beginning of a text, of so many bytes.
const READ_BYTES: usize = 4 << 10;

impl Language {
    /// The language that most function words and scripts of a text belong to; on a tie, or without any, `before`,
    /// the language of what was said before.
    pub fn of(text: &str, before: Self) -> Self {
        Votes::of(text).language(before)
    }
}

/// How many words of a text show each language, by its place in [`Language::ALL`]: whoever reads a text several times
/// asks for it once.
#[derive(Clone, Debug, Default)]
pub struct Votes([u32; Language::ALL.len()]);

impl Votes {
    /// Those of the words at the beginning of a text.
    pub fn of(text: &str) -> Self {
        let mut votes = Self::default();
        let mut lower = String::with_capacity(WORD_BYTES);
        let head = &text[..text.floor_char_boundary(READ_BYTES)];
        let is_inner = |c| is_word(c) || matches!(c, '\'' | '’');
        let mut rest = &head[span(head, |c| !is_inner(c))..];
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(span(rest, is_inner));
            rest = &behind[span(behind, |c| !is_inner(c))..];
            lower.clear();
            let mut shown = Languages::default();
            if word.is_ascii() {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                let chars = word.chars().flat_map(char::to_lowercase);
                lower.extend(chars.map(|c| if c == '’' { '\'' } else { c }));
                shown = Language::of_script(&lower).map(Languages::from).unwrap_or_default();
            }
            stops(&lower).union(shown).iter().for_each(|language| votes.0[language as usize] += 1);
        }
        votes
    }

    /// The language with most of them; on a tie, or without any, `before`.
    pub fn language(&self, before: Language) -> Language {
        let most = self.0.iter().max().copied().unwrap_or(0);
        if self.count(before) + 1 >= most {
            return before;
        }
        Language::ALL.into_iter().find(|language| self.count(*language) == most).unwrap_or(before)
    }

    pub(crate) fn count(&self, language: Language) -> u32 {
        self.0[language as usize]
    }
}

#[cfg(test)]
mod tests;
