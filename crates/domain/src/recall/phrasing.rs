//! Words that phrase a question, and words of every day: they say little about what is asked for.

use std::{ops::Range, sync::LazyLock};

use rustc_hash::FxHashSet;
use utterd_text::{Language, asking, everyday};

use super::{stem::stem_of, term::TermKind, wanted::Wanted, weights::EVERYDAY};
use crate::phrases::phrases;

/// How much of a word of a prompt in `language` counts towards covering it.
pub(super) fn share(wanted: &Wanted, language: Language, prompt: &str) -> f32 {
    let stem = wanted.alternatives.first().map_or("", |term| term);
    match wanted.kind {
        TermKind::Word if is_asking(wanted, language) => 0.0,
        TermKind::Word if COMMON.contains(stem) || is_small_number(stem) => EVERYDAY,
        TermKind::Pair if is_phrasing(prompt, &wanted.range) => 0.0,
        _ => 1.0,
    }
}

/// A number of one or two digits.
fn is_small_number(term: &str) -> bool {
    term.len() < 3 && term.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether people ask by this word what was said.
fn is_asking(wanted: &Wanted, language: Language) -> bool {
    let language = Language::of_script(&wanted.written).unwrap_or(language);
    wanted.alternatives.first().is_some_and(|stem| ASKING_STEMS[language as usize].contains(stem))
}

/// By language, the stems of the words by which people ask what was said.
static ASKING_STEMS: LazyLock<[FxHashSet<String>; Language::ALL.len()]> = LazyLock::new(|| {
    Language::ALL.map(|language| asking(language).map(|word| stem_of(word, language)).collect())
});

/// Words that occur in any talk.
static COMMON: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| everyday().map(|word| stem_of(word, Language::English)).collect());

/// Phrases that ask, in Chinese and Japanese.
const ASKING: [&str; 34] = phrases(
    "你曾经|你之前|你上次|曾经|之前|上次|给我|跟我|对我|告诉我|告诉|还记得|记得|推荐|建议|提到|提过|说过|什么|怎么|哪些|哪个|哪里|哪儿|多少|请问|我们|是谁|吗|呢|何|どの|について|\
    教えて",
);

/// The longest of these phrases, in bytes.
const LONGEST: usize = 12;

/// Whether a pair of characters is part of a phrase that asks. A pair that only overlaps with one holds half of a word.
fn is_phrasing(prompt: &str, pair: &Range<usize>) -> bool {
    let from = prompt.floor_char_boundary(pair.start.saturating_sub(LONGEST));
    let near = &prompt[from..prompt.ceil_char_boundary(pair.end + LONGEST)];
    let (start, end) = (pair.start - from, pair.end - from);
    let overlaps = |(at, phrase): (usize, &str)| at < end && start < at + phrase.len();
    ASKING.iter().any(|phrase| near.match_indices(phrase).any(overlaps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_overlaps_with_a_phrase_asks() {
        let prompt = "你曾经给我推荐过的餐馆在哪里？";
        let pair = |text: &str| {
            let at = prompt.find(text).unwrap();
            is_phrasing(prompt, &(at..at + text.len()))
        };
        assert!(pair("你曾") && pair("荐过") && pair("里？"));
        assert!(!pair("餐馆") && !pair("过的"));
        assert!(ASKING.iter().all(|phrase| phrase.len() <= LONGEST));
    }
}
