//! Words that phrase a question, and words of every day: they say little about what is asked for.

use std::{ops::Range, sync::LazyLock};

use rustc_hash::FxHashSet;

use super::{
    language::languages::Language,
    query::Wanted,
    terms::{TermKind, stem_of},
    weights::EVERYDAY,
};
use crate::phrases::phrases;

/// How much of a word counts towards covering a prompt.
pub(super) fn share(wanted: &Wanted, prompt: &str) -> f32 {
    let stem = wanted.alternatives.first().map_or("", |term| term);
    match wanted.kind {
        TermKind::Word if PHRASING.contains(stem) => 0.0,
        TermKind::Word if COMMON.contains(stem) || is_small_number(stem) => EVERYDAY,
        TermKind::Pair if is_phrasing(prompt, &wanted.range) => 0.0,
        _ => 1.0,
    }
}

/// A number of one or two digits.
fn is_small_number(term: &str) -> bool {
    term.len() < 3 && term.bytes().all(|byte| byte.is_ascii_digit())
}

fn stems(words: &str) -> FxHashSet<String> {
    words.split_whitespace().map(|word| stem_of(word, Language::English)).collect()
}

/// Words by which people ask what was said.
static PHRASING: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    stems(
        "summarize summarise summary discuss discussion talk mention say said tell told think thought ask asked \
         question answer opinion opinions describe explain list decide decided decision conclude conclusion meeting \
         conversation group team participant participants speaker remember recall remind according regarding concerning \
         specifically mainly overall recommend recommended suggest suggested propose proposed agree agreed view views \
         attitude comprehensive overview recap debate presentation reflect reflection",
    )
});

/// Words that occur in any talk.
static COMMON: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    stems(
        "name new old put go went get got want wanted like buy bought take took give gave given make made time day week \
         month year last first next thing things kind type sort number need use used work place people person home house \
         good great best favorite favourite long much many call called know feel look find found keep start begin end come \
         came leave left bring brought try tried see saw meet met help plan choose chose happen change read show way lot \
         return big small right part different far often cost cut fit today tomorrow yesterday currently recently ever live",
    )
});

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
