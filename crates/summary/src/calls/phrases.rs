//! Words and phrases by which results, harnesses and shells are known.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The phrases, one a line behind its kind.
pub(super) const PHRASES: &str = include_str!("phrases.tsv");

/// The phrases of a kind.
pub(super) fn listed(kind: &str) -> &'static [&'static str] {
    static TABLE: LazyLock<FxHashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut table: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        for (kind, phrase) in PHRASES.lines().filter_map(|line| line.split_once('\t')) {
            table.entry(kind).or_default().push(phrase);
        }
        table
    });
    TABLE.get(kind).map_or(&[], Vec::as_slice)
}

/// Whether one of the phrases of a kind is `word`.
pub(super) fn is_one(kind: &str, word: &str) -> bool {
    listed(kind).contains(&word)
}

/// Whether one of the phrases of a kind is in `text`.
pub(super) fn has(kind: &str, text: &str) -> bool {
    listed(kind).iter().any(|phrase| text.contains(phrase))
}

/// What follows the phrase of a kind that `text` begins with, if the phrase ends where a word does.
pub(super) fn begins<'t>(kind: &str, text: &'t str) -> Option<&'t str> {
    let rest = |phrase: &&str| {
        let rest = text.strip_prefix(phrase)?;
        let splits =
            phrase.ends_with(|c: char| c.is_ascii_alphanumeric()) && rest.starts_with(char::is_alphanumeric);
        (!splits).then_some(rest)
    };
    listed(kind).iter().find_map(rest)
}
