//! Irregular English verbs and nouns, which no stemmer handles.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The base form of an irregular past tense, participle or plural; any other word unchanged.
///
/// A form that is also a word of its own (`found` a company, a `rose`, `lay`, `saw` a board, `felt`, `wound`)
/// counts as the verb if that is its usual meaning.
pub fn base_form(word: &str) -> &str {
    BASES.get(word).copied().unwrap_or(word)
}

/// A line of the data is a base form and, behind a tab, the others. Auxiliaries are stop words.
static BASES: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("irregular.tsv").lines().filter_map(|line| line.split_once('\t'));
    lines.flat_map(|(base, forms)| forms.split(' ').map(move |form| (form, base))).collect()
});
