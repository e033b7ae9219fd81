//! Where a sentence ends.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::chars::{is_closer, span};

/// A pattern on each line: the end of what stands before a full stop, the stop, and the beginning of what follows, where
/// it is that of an abbreviation (`Dr.`, `e.g.`), an initial or an ordinal.
static ABBREVIATIONS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new_many(&include_str!("abbreviations.txt").lines().collect::<Vec<_>>()).ok());
/// How much is read before a full stop, in bytes.
const WORD_BYTES: usize = 24;

/// The length of the first sentence of `text`, with the blanks behind it.
pub(super) fn sentence_end(text: &str) -> usize {
    let is_mark = |c: char| matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '。' | '！' | '？' | '｡' | '।');
    let mut at = 0;
    loop {
        let (before, rest) = text.split_at(at + span(&text[at..], |c| !is_mark(c)));
        if rest.is_empty() {
            return text.len();
        }
        let marks = rest.len() - rest.trim_start_matches(|c| is_mark(c) || is_closer(c)).len();
        let (mark, next) = rest.split_at(marks);
        if ends(before, mark, next) {
            return text.len() - next.trim_start().len();
        }
        at = before.len() + marks;
    }
}

/// Whether a mark between two texts ends a sentence.
fn ends(before: &str, mark: &str, next: &str) -> bool {
    let said = next.trim_start();
    let goes_on = said.starts_with(char::is_lowercase);
    match () {
        () if said.is_empty() || mark.starts_with(['。', '！', '？', '｡', '।']) => true,
        () if next.len() == said.len() => false,
        // "Why?" he asked
        () if mark.contains(['"', '”', '»', '’', ')']) && goes_on => false,
        () if mark.starts_with('…') || mark.starts_with("...") => !goes_on,
        () => !mark.starts_with('.') || !abbreviates(before, said),
    }
}

/// Whether the full stop behind `before` is that of an abbreviation, an initial or an ordinal, given what follows.
pub(crate) fn abbreviates(before: &str, next: &str) -> bool {
    let start = before.ceil_char_boundary(before.len().saturating_sub(WORD_BYTES));
    let cut = if start > 0 { "…" } else { "" };
    let follows: String = next.chars().take(3).collect();
    let around = format!("{cut}{}. {follows}", &before[start..]);
    ABBREVIATIONS.as_ref().is_some_and(|known| known.is_match(&around))
}
