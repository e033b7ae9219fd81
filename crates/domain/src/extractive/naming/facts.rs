//! Finds what a ledger can hold: identifiers, paths and addresses verbatim; amounts, dates and counts with
//! the word that says what they are.

use crate::extractive::text::{
    clip::{clip, clip_tail},
    runs::Runs,
    words::{IDENTIFIER, NUMBER, Word, says, scan},
};

/// Of a longer text, only the first [`HEAD_BYTES`] and the last [`TAIL_BYTES`] are read.
const HEAD_BYTES: usize = 8 << 10;
/// How much of a longer text's end is read, in bytes.
const TAIL_BYTES: usize = 2 << 10;
/// How many words are searched for a number's label.
const LABEL_WORDS: usize = 4;
/// The weight of a number of one or two digits.
pub(in crate::extractive) const SMALL_NUMBER: u32 = 3;
/// The longest fact, in bytes.
const MAX_FACT_BYTES: usize = 96;

/// A fact found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extractive) struct Found<'a> {
    /// The value with its label, verbatim; writing it drops markup and quotes.
    pub text: &'a str,
    /// The value, and its label if it has one (0 otherwise).
    pub concepts: [u32; 2],
    pub weight: u32,
    /// Where the text begins, in bytes.
    pub at: usize,
}

/// Calls `each` for every fact in `text`, in order.
pub(in crate::extractive) fn find<'a>(text: &'a str, mut each: impl FnMut(Found<'a>)) {
    let json = text.trim_start().starts_with(['{', '[']);
    let [head, tail] = ends(text);
    for (part, before) in [(head, 0), (tail, text.len() - tail.len())] {
        for run in Runs::of(part) {
            let from = u32::try_from(run.start).unwrap_or(u32::MAX);
            scan(&part[run], |mut word| {
                (word.start, word.end) = (from + word.start, from + word.end);
                if let Some(found) = fact(part, &word, json) {
                    each(Found { at: before + found.at, ..found });
                }
            });
        }
    }
}

/// The first fact in `text`.
pub(in crate::extractive) fn first(text: &str) -> Option<Found<'_>> {
    let mut first = None;
    find(text, |found| first = first.or(Some(found)));
    first
}

/// The two ends of a long text, without the words that the cuts split.
fn ends(text: &str) -> [&str; 2] {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return [text, ""];
    }
    let is_gap = |c: char| c.is_whitespace() || c == ',';
    let (head, tail) = (clip(text, HEAD_BYTES), clip_tail(text, TAIL_BYTES));
    [&head[..head.rfind(is_gap).unwrap_or(0)], tail.find(is_gap).map_or("", |gap| &tail[gap..])]
}

fn fact<'a>(text: &'a str, word: &Word, json: bool) -> Option<Found<'a>> {
    let value = word.of(text);
    let (start, end) = (word.start as usize, word.end as usize);
    match word.weight {
        IDENTIFIER if is_name(value) && !is_markup(text, start, end, json) => {
            if let Some(from) = member_called(value, &text[end..]) {
                let called = &text[start + from..end + CALLED.len()];
                return Some(Found {
                    text: called,
                    concepts: [exact(called), 0],
                    weight: IDENTIFIER,
                    at: start,
                });
            }
            Some(Found { text: value, concepts: [exact(value), 0], weight: IDENTIFIER, at: start })
        }
        _ if names_function(text, start, end) => {
            let called = &text[start..end + CALLED.len()];
            Some(Found { text: called, concepts: [exact(called), 0], weight: IDENTIFIER, at: start })
        }
        NUMBER => {
            let (from, to, label) = labelled(text, start, end)?;
            let text = &text[from..to];
            let digits = value.bytes().filter(u8::is_ascii_digit).count();
            let weight = if digits > 2 { NUMBER } else { SMALL_NUMBER };
            // three digits are hardly ever equal by chance
            let concepts = if digits > 2 { [exact(value), 0] } else { [word.concept, label] };
            (text.len() <= MAX_FACT_BYTES).then_some(Found { text, concepts, weight, at: from })
        }
        _ => None,
    }
}

/// Follows the name of a function.
const CALLED: &str = "()";

/// Where the member of `self.reset` starts if it is a plain word that is called without arguments.
fn member_called(value: &str, behind: &str) -> Option<usize> {
    let at = value.rfind('.')? + 1;
    let is_plain = value.len() - at > 2 && value[at..].bytes().all(|byte| byte.is_ascii_lowercase());
    (is_plain && behind.starts_with(CALLED)).then_some(at)
}

/// Whether a plain word is the name of a function without arguments: `reset()`.
fn names_function(text: &str, start: usize, end: usize) -> bool {
    text[end..].starts_with(CALLED)
        && end - start > 2
        && text[start..end].bytes().all(|byte| byte.is_ascii_alphabetic())
        && !text[..start].ends_with(['.', '\\'])
}

/// Whether `value` is an identifier that might be used again: not a measure (`38ms`), a timestamp, a
/// contraction or an escape.
fn is_name(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_measure = bytes[0].is_ascii_digit()
        && bytes.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase() || *byte == b'.');
    let is_moment = digits > 7 && value.contains(':');
    let is_long = value.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
    is_long && !is_measure && !is_moment && !value.contains(['\'', '’', '\\']) && !value.ends_with("..")
}

/// Whether a JSON value such as `one_way` is from a fixed set rather than a name.
fn is_vocabulary(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}

/// Whether a word is the whole of a JSON string.
fn is_value(text: &str, start: usize, end: usize) -> bool {
    text[..start].ends_with('"') && !text[..start].ends_with("\\\"") && text[end..].starts_with('"')
}

/// A case-sensitive hash: names that differ in case are different names.
pub(in crate::extractive) fn exact(name: &str) -> u32 {
    name.bytes().fold(1, |hash: u32, byte| (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9e37_79b9))
}

/// Whether the word is a JSON key or part of an escape.
fn is_key(text: &str, start: usize, end: usize) -> bool {
    text[end..].trim_start_matches('\\').starts_with("\":") || text[..start].ends_with('\\')
}

/// Whether the word belongs to the form of a text: a key or a tag, or in JSON a value from a fixed set.
fn is_markup(text: &str, start: usize, end: usize, json: bool) -> bool {
    is_key(text, start, end)
        || is_tag(text, start, end)
        || json && is_vocabulary(&text[start..end]) && is_value(text, start, end)
}

/// Whether the word is a tag: `<name>`, `</name>`; the parameter of a type (`Vec<Name>`) is not.
fn is_tag(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].strip_suffix('<').filter(|_| !text[start..end].contains(['@', '.']));
    text[end..].starts_with('>') && before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// The number at `start..end` with the word that says what it is: the range of both, and the word's concept.
/// `1,000 pages`, `14 May`, `deadline: 14`, `refund of $250`, `"price": 523`.
fn labelled(text: &str, start: usize, end: usize) -> Option<(usize, usize, u32)> {
    if let Some((from, label)) = key_before(text, start) {
        // the number is the whole value
        let ends = text[end..].starts_with(['"', ',', '}', ']', '\\', '\n', '\r']) || end == text.len();
        return ends.then_some((from, end, label));
    }
    if let Some((to, label)) = noun_behind(text, end) {
        return Some((start, to, label));
    }
    let (from, label) = label_before(text, start)?;
    let closes = text[from..start].contains('(') && text[end..].starts_with(')');
    Some((from, if closes { end + 1 } else { end }, label))
}

/// `"price": ` before a JSON number.
fn key_before(text: &str, start: usize) -> Option<(usize, u32)> {
    let before = text[..start].trim_end_matches(['"', ' ', '\\']);
    let key = before.strip_suffix(':')?.strip_suffix('"')?.trim_end_matches('\\');
    let from = key.rfind('"')? + 1;
    let key = &key[from..];
    (!key.is_empty() && key.len() < 40 && !key.contains(char::is_whitespace)).then(|| (from, concept(key)))
}

/// The word after a blank or hyphen, if it is not a function word.
fn noun_behind(text: &str, end: usize) -> Option<(usize, u32)> {
    let behind = text[end..].strip_prefix([' ', '-'])?;
    let length = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
    let word = &behind[..length];
    let ends =
        behind[length..].chars().next().is_none_or(|c| !matches!(c, '_' | '/' | '\'' | '’' | ':' | '='));
    let label = says(word).or_else(|| is_may(word).then(|| concept(word))).filter(|_| ends)?;
    Some((end + 1 + length, label))
}

/// The nearest meaningful word before the number, skipping small words, within the clause; before a date or a
/// time (`on 2024-12-03`) a small word will do.
fn label_before(text: &str, start: usize) -> Option<(usize, u32)> {
    let value = text[start..].split(' ').next().unwrap_or_default();
    let spells = value.bytes().filter(u8::is_ascii_digit).count() > 3 && value.contains(['-', ':', '/']);
    let (mut at, mut first) = (start, None);
    for step in 0..LABEL_WORDS {
        let before = text[..at].trim_end_matches([' ', '*', '`', '(', '"']);
        let before = if step == 0 { opened(before) } else { before };
        if before.ends_with(['.', ',', ';', '!', '?', ')', '\n', '|', ':']) || before.is_empty() {
            break;
        }
        let from = before
            .rfind(|c: char| !c.is_alphabetic() && !matches!(c, '_' | '-' | '\'' | '’'))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[from..];
        let is_cut = text[..from].ends_with(|c: char| c.is_alphanumeric() || c == '\\');
        if word.is_empty() || is_cut || start - from > MAX_FACT_BYTES {
            break;
        }
        if let Some(label) = says(word).or_else(|| is_may(word).then(|| concept(word))) {
            return Some((from, label));
        }
        first = first.or(Some((from, concept(word))));
        at = from;
    }
    spells.then_some(first).flatten()
}

/// The text before a label's colon or sign, or before the day of `May 14, 2024`.
fn opened(before: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit();
    match before.strip_suffix(',') {
        Some(day) if day.ends_with(is_digit) => day.trim_end_matches(is_digit).trim_end(),
        _ => before.trim_end_matches([':', '=', '*', ' ']),
    }
}

/// Whether the word is the month, not the verb.
fn is_may(word: &str) -> bool {
    word == "May"
}

fn concept(word: &str) -> u32 {
    let mut found = 0;
    scan(word, |word| found = word.concept);
    found
}

/// Appends a fact as one line, without markup and quotes.
pub(in crate::extractive) fn write(fact: &str, out: &mut String) {
    for c in fact.chars() {
        match c {
            '*' | '`' | '"' | '\\' | ';' => {}
            _ if c.is_whitespace() || c.is_control() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            _ => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        find(text, |found| {
            let mut text = String::new();
            write(found.text, &mut text);
            all.push(text);
        });
        all
    }

    #[test]
    fn a_number_is_told_with_the_word_that_says_what_it_is() {
        for (text, expected) in [
            ("The book has 1,000 pages in all.", "1,000 pages"),
            ("We meet on 14 May.", "14 May"),
            ("We meet on May 14.", "May 14"),
            ("a refund of $250, at once", "refund of $250"),
            ("- **Total Cost:** $239", "Cost: $239"),
            ("Cabin: Economy ($112)", "Economy ($112)"),
            (r#"{"price": 523, "open": true}"#, "price: 523"),
            (r#"{"date": "2024-05-27"}"#, "date: 2024-05-27"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_number_that_nothing_names_is_no_fact() {
        assert!(found("[17, 23, 42]").is_empty());
        assert!(found("It was 42.").is_empty());
    }

    #[test]
    fn what_names_itself_is_told_as_it_is() {
        assert_eq!(
            found("See src/main.rs, HAT084 and ann@example.com by std::io, not \"key_of\": 38ms"),
            ["src/main.rs", "HAT084", "ann@example.com", "std::io"]
        );
    }
}
