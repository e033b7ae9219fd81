//! What capitals tell.

use std::ops::Range;

use utterd_text::Language;

/// Around a word, how many bytes show whether all is written in capitals.
const NEAR: usize = 32;

/// Whether a stop word names something: it is in capitals, and other words are not, or it begins with a capital inside
/// an English sentence.
pub(super) fn is_name(text: &str, word: Range<usize>, language: Language) -> bool {
    let written = text[word.clone()].as_bytes();
    if written.len() < 2 || written.contains(&b'\'') {
        return false;
    }
    let is_small = |byte: &u8| byte.is_ascii_lowercase();
    if written.iter().any(is_small) {
        return language == Language::English && continues_sentence(&text[..word.start]);
    }
    let bytes = text.as_bytes();
    let before = &bytes[word.start.saturating_sub(NEAR)..word.start];
    let after = &bytes[word.end..bytes.len().min(word.end + NEAR)];
    let around = || before.iter().chain(after);
    around().any(is_small) || !around().any(u8::is_ascii_uppercase)
}

/// Whether what follows a text goes on with its last sentence.
pub(super) fn continues_sentence(before: &str) -> bool {
    before
        .trim_end_matches(|c: char| !c.is_alphanumeric() && !".!?:\n".contains(c))
        .ends_with(char::is_alphanumeric)
}
