//! The language of a text, its stems and its function words.

mod irregular;
mod kinds;
mod stops;

pub use irregular::base_form;
pub use kinds::{Language, Languages};
pub(crate) use stops::is_stop;
pub use stops::{asking, everyday, stops, unspaced_stop};

use crate::normal::Normal;

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
        Self::of_normal(&Normal::of(&text[..text.floor_char_boundary(READ_BYTES)]))
    }

    pub(crate) fn of_normal(normal: &Normal) -> Self {
        let mut votes = Self::default();
        let mut rest = normal.text.as_str();
        while !rest.is_empty() {
            let end = rest.bytes().position(|byte| matches!(byte, b' ' | b',' | b'-' | b'_'));
            let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind.get(1..).unwrap_or_default();
            if word.is_empty() {
                continue;
            }
            let script = Language::of_script(word).map(Languages::from).unwrap_or_default();
            stops(word).union(script).iter().for_each(|language| votes.0[language as usize] += 1);
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
