//! Words that say nothing about the subject of a text.

use std::{cmp::Reverse, sync::LazyLock};

use rustc_hash::FxHashMap;

use super::kinds::{Language, Languages};

/// The words that the lists of the crate `stop-words` omit: question words, the function words of English and Hindi.
/// Those of English do not include what is also worth searching for (May, case, return, test). Under `unspaced` are
/// those of Chinese, Japanese and Thai that are hardly ever part of another word.
const OWN: &str = include_str!("stops.tsv");

/// Whether a lower-case word is a stop word of a language.
pub(crate) fn is_stop(word: &str, language: Language) -> bool {
    stops(word).contains(language)
}

/// The languages in which a lower-case word is a stop word.
pub fn stops(word: &str) -> Languages {
    STOPS.get(word).copied().unwrap_or_default()
}

static STOPS: LazyLock<FxHashMap<String, Languages>> = LazyLock::new(|| {
    let mut stops: FxHashMap<String, Languages> = FxHashMap::default();
    for language in Language::ALL {
        let listed = match language {
            Language::English | Language::Hindi => None,
            _ => stop_words::lookup(language.code()),
        };
        for word in own(language.code()).chain(listed.unwrap_or_default().iter().copied()) {
            stops.entry(word.to_owned()).or_default().insert(language);
            if let Some(bare) = without_apostrophe(word) {
                stops.entry(bare).or_default().insert(language);
            }
        }
    }
    stops
});

fn own(code: &str) -> impl Iterator<Item = &'static str> {
    listed(OWN, code)
}

/// The words of a list that are under a code.
fn listed(list: &'static str, code: &str) -> impl Iterator<Item = &'static str> {
    let lines = list.lines().filter_map(|line| line.split_once('\t'));
    lines.filter(move |(of, _)| *of == code).flat_map(|(_, words)| words.split(' '))
}

/// The words of a language by which people ask what was said: `mention`, `remember`, `summarize`.
pub fn asking(language: Language) -> impl Iterator<Item = &'static str> {
    listed(ASKING, language.code())
}

/// English words that occur in any talk, and so say little of what is asked for.
pub fn everyday() -> impl Iterator<Item = &'static str> {
    listed(ASKING, "everyday")
}

const ASKING: &str = include_str!("asking.tsv");

/// `dont` and `im`, as people type them. Not `ill` and `shed`, which are other words.
fn without_apostrophe(word: &str) -> Option<String> {
    let is_plain = ["n't", "'m", "'re", "'s", "'ve"].iter().any(|end| word.ends_with(end));
    is_plain.then(|| word.replace('\'', ""))
}

/// The length in bytes of the longest stop word at the beginning of a text in a script without spaces.
pub fn unspaced_stop(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    UNSPACED.get(&first)?.iter().find(|word| text.starts_with(**word)).map(|word| word.len())
}

/// The stop words by first character, the longest first.
static UNSPACED: LazyLock<FxHashMap<char, Vec<&'static str>>> = LazyLock::new(|| {
    let mut stops: FxHashMap<char, Vec<&'static str>> = FxHashMap::default();
    for word in own("unspaced") {
        word.chars().take(1).for_each(|first| stops.entry(first).or_default().push(word));
    }
    stops.values_mut().for_each(|words| words.sort_by_key(|word| Reverse(word.len())));
    stops
});
