//! The language of a text.

use utterd_text::{Language, Languages};

/// The language that most stop words of a text belong to; on a tie, or without any, `before`, the language of
/// the previous text.
pub(super) fn guess(stops: impl Iterator<Item = Languages> + Clone, before: Language) -> Language {
    let is_other = |one: &Languages| !one.contains(before) && *one != Languages::default();
    // Most texts are in one language, so no other language can have more of their stop words.
    if stops.clone().filter(is_other).count() <= 1 {
        return before;
    }
    let mut counts = [0_u32; Language::ALL.len()];
    counts[before as usize] = 1;
    for languages in stops {
        languages.iter().for_each(|language| counts[language as usize] += 1);
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    if counts[before as usize] == most {
        return before;
    }
    Language::ALL.into_iter().find(|language| counts[*language as usize] == most).unwrap_or(before)
}
