//! Where a sentence ends.

use crate::chars::is_closer;

/// Words whose full stop never ends a sentence, in lower case: titles and the like, which stand before what they belong
/// to.
const LEADING: &str = " approx av bzw ca cf dott dr dra fig fr gen hr ing lic m mag mll mlle mme mr mrs ms mt nr núm op pp \
    prof ref rev s sen sig sr sra srta st str tel vgl vs z г гр д др им кв о п пл проф см стр т ул ";
/// Words whose full stop ends a sentence only if the next one starts with a capital.
const TRAILING: &str = " al blvd bros co corp dept ed est etc ff inc jr ltd pte sq usw uvm ecc enz гг ";
/// Words that are abbreviations before a number.
const NUMBERED: &str = " abs art bd ch eq no nos p par s sec sect vol ";
/// How months begin, behind the ordinals of days: `am 3. Mai`.
const MONTHS: &str = " jan feb mär mrt mar apr mai maj jun jul aug sep okt nov dez dec ";

/// The length of the first sentence of `text`, with the blanks behind it.
pub(super) fn sentence_end(text: &str) -> usize {
    let is_mark = |c: char| matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '。' | '！' | '？' | '｡' | '।');
    let mut at = 0;
    while let Some(found) = text[at..].find(is_mark) {
        let (before, rest) = text.split_at(at + found);
        let marks = rest.len() - rest.trim_start_matches(|c| is_mark(c) || is_closer(c)).len();
        let (mark, next) = rest.split_at(marks);
        if ends(before, mark, next) {
            return text.len() - next.trim_start().len();
        }
        at = before.len() + marks;
    }
    text.len()
}

/// Whether a mark between two texts ends a sentence.
fn ends(before: &str, mark: &str, next: &str) -> bool {
    let is_wide = mark.starts_with(['。', '！', '？', '｡', '।']);
    let follows = next.trim_start().chars().next();
    let Some(first) = follows else { return true };
    if is_wide || next.len() == next.trim_start().len() {
        return is_wide;
    }
    let goes_on = first.is_lowercase();
    match () {
        // "Why?" he asked
        () if mark.contains(['"', '”', '»', '’', ')']) && goes_on => false,
        () if mark.starts_with('…') || mark.starts_with("...") => !goes_on,
        () if mark.starts_with('.') => !abbreviates(before, next.trim_start()),
        () => true,
    }
}

/// Whether the full stop behind `before` is that of an abbreviation, an initial or an ordinal, given what follows.
pub(crate) fn abbreviates(before: &str, next: &str) -> bool {
    let word = last_word(before);
    let capital = next.trim_start_matches(['"', '“', '(', '\'']).starts_with(char::is_uppercase);
    let digit = next.starts_with(|c: char| c.is_ascii_digit());
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return is_ordinal(before, word, next);
    }
    if word.chars().nth(1).is_none() {
        return is_initial(before, word, capital);
    }
    let lower = word.to_lowercase();
    // e.g, p.m, z.B, т.е
    let is_dotted = word.contains('.') && word.split('.').all(|part| part.chars().count() == 1);
    is_in(LEADING, &lower)
        || (is_dotted || is_in(TRAILING, &lower)) && !capital
        || is_in(NUMBERED, &lower) && digit
}

/// No abbreviation is longer, in bytes.
const WORD_BYTES: usize = 24;

fn last_word(before: &str) -> &str {
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(WORD_BYTES))..];
    tail.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or(tail)
}

/// A number at the beginning (`1. Open the file`), or of a day before its month.
fn is_ordinal(before: &str, word: &str, next: &str) -> bool {
    let month: String = next.chars().take(3).flat_map(char::to_lowercase).collect();
    !word.is_empty()
        && (before.len() == word.len()
            || word.len() <= 2 && (is_in(MONTHS, &month) || next.starts_with(char::is_lowercase)))
}

/// A capital behind a name or another initial, or at the beginning: `J. Smith`, `Anna K. Holm`. Not the pronoun, nor
/// `vitamin C`.
fn is_initial(before: &str, word: &str, capital: bool) -> bool {
    let lead = before[..before.len() - word.len()].trim_end_matches([' ', ',']);
    let behind_name =
        lead.is_empty() || lead.ends_with('.') || last_word(lead).starts_with(char::is_uppercase);
    let is_capital = word.starts_with(char::is_uppercase);
    match is_capital {
        true => capital && word != "I" && behind_name,
        false => !capital || is_in(LEADING, word),
    }
}

fn is_in(list: &str, word: &str) -> bool {
    list.match_indices(word).any(|(at, _)| {
        list[..at].ends_with(' ') && list[at + word.len()..].starts_with(' ') && !word.is_empty()
    })
}
