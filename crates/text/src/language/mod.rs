//! The language of a text, its stems and its function words.

mod irregular;
mod kinds;
mod stops;

pub use irregular::base_form;
pub use kinds::{Language, Languages};
pub(crate) use stops::is_stop;
pub use stops::{asking, everyday, stops, unspaced_stop};

use crate::chars::is_word;

/// The language is guessed from the beginning of a text, of so many bytes.
const READ_BYTES: usize = 4 << 10;

impl Language {
    /// The language that most function words and scripts of a text belong to; on a tie, or without any, `before`,
    /// the language of what was said before.
    pub fn of(text: &str, before: Self) -> Self {
        let votes = votes(text);
        let count = |language: Self| votes[language as usize];
        let most = votes.iter().max().copied().unwrap_or(0);
        if count(before) + 1 >= most {
            return before;
        }
        Self::ALL.into_iter().find(|language| count(*language) == most).unwrap_or(before)
    }
}

/// How many words at the beginning of a text show each language, by its place in [`Language::ALL`].
pub(crate) fn votes(text: &str) -> [u32; Language::ALL.len()] {
    let mut votes = [0; Language::ALL.len()];
    let mut lower = String::new();
    let head = &text[..text.floor_char_boundary(READ_BYTES)];
    for word in head.split(|c: char| !is_word(c) && !matches!(c, '\'' | '’')) {
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }));
        let script = Language::of_script(&lower).map(Languages::from).unwrap_or_default();
        stops(&lower).union(script).iter().for_each(|language| votes[language as usize] += 1);
    }
    votes
}

#[cfg(test)]
mod tests;
