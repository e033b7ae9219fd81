//! The forms of a word: stemmed, in lower case, without accents.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfkc_quick};
use utterd_text::Language;

use super::identifiers::MAX_TERM_BYTES;

/// The term for a lower-case word.
pub(super) fn stem_of(lower: &str, language: Language) -> String {
    let word = beginning(lower);
    if has_digit(word) {
        return word.to_owned();
    }
    let word = without_elision(word);
    let plain = without_vowel_points(word);
    folded(&language.stem(&plain)).into_owned()
}

pub(super) fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// `école` of `l'école`, and `Caroline` of `Caroline's`.
fn without_elision(word: &str) -> &str {
    let Some((before, after)) = word.split_once('\'') else { return word };
    let elides = before.chars().count() <= 2 || before.ends_with("qu") || before.ends_with("ll");
    match after.chars().count() {
        0..3 => before,
        _ if elides => after,
        _ => word,
    }
}

/// Removes Arabic vowel points, which are usually not written.
fn without_vowel_points(word: &str) -> Cow<'_, str> {
    let is_point = |c: char| matches!(c, '\u{0640}' | '\u{064B}'..='\u{0652}' | '\u{0670}');
    match word.contains(is_point) {
        true => Cow::Owned(word.replace(is_point, "")),
        false => Cow::Borrowed(word),
    }
}

/// Removes the accents of Latin, Greek and Cyrillic letters.
pub(super) fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let is_accent = |c: &char| matches!(c, '\u{0300}'..='\u{036F}') && is_combining_mark(*c);
    let plain = word.nfd().filter(|c| !is_accent(c)).nfc();
    let mut folded = String::with_capacity(word.len());
    for c in plain {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            _ => folded.push(c),
        }
    }
    Cow::Owned(folded)
}

/// Writes the word to `lower` in lower case and NFKC, with `'` for any apostrophe.
pub(super) fn lower_case(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        let straight = |c| if matches!(c, '\u{2019}' | '\u{02BC}') { '\'' } else { c };
        lower.extend(normal_form(word).chars().flat_map(char::to_lowercase).map(straight));
    }
}

pub(super) fn normal_form(text: &str) -> Cow<'_, str> {
    // ideographs, the most of a text that has them, are their own normal forms
    let others = text.chars().filter(|c| !matches!(c, '\u{4E00}'..='\u{9FFF}'));
    if text.is_ascii() || is_nfkc_quick(others) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The beginning of a word, cut to the length of a term.
pub(super) fn beginning(word: &str) -> &str {
    &word[..word.floor_char_boundary(MAX_TERM_BYTES)]
}

/// Whether an identifier is just words with hyphens: `check-in`.
pub(super) fn are_words(written: &str) -> bool {
    written.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'\''))
}
