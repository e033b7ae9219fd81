//! Classes of characters.

use unicode_normalization::char::is_combining_mark;

/// Whether a character is part of a word.
#[inline]
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { is_word_beyond_ascii(c) }
}

#[inline(never)] // so that the common case is, everywhere
fn is_word_beyond_ascii(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The length of the word that a text begins with, up to the first byte that is no letter or digit of ASCII: where most
/// words end.
#[inline]
pub(crate) fn ascii_word(text: &str) -> usize {
    const IS_OF_WORD: [bool; 256] = {
        let (mut table, mut byte) = ([false; 256], 0_u8);
        while byte < 128 {
            (table[byte as usize], byte) = (byte.is_ascii_alphanumeric(), byte + 1);
        }
        table
    };
    text.bytes().position(|byte| !IS_OF_WORD[usize::from(byte)]).unwrap_or(text.len())
}

/// The length of what a text begins with that has only characters of a class. Most are ASCII, which needs no decoding.
#[inline]
pub(crate) fn span(text: &str, is_of: impl Fn(char) -> bool) -> usize {
    let ends = |byte: u8| !byte.is_ascii() || !is_of(char::from(byte));
    let end = text.bytes().position(ends).unwrap_or(text.len());
    match text.as_bytes().get(end) {
        Some(byte) if !byte.is_ascii() => {
            let rest = &text[end..];
            end + rest.find(|c| !is_of(c)).unwrap_or(rest.len())
        }
        _ => end,
    }
}

/// Whether a character belongs to a script without spaces between words (Thai, Lao, Burmese, Khmer, kana,
/// bopomofo, Han) or to hangul, whose words have endings that no stemmer here removes.
#[inline]
pub fn is_unspaced(c: char) -> bool {
    c >= '\u{0E01}' && is_of_unspaced_script(c)
}

#[inline(never)]
fn is_of_unspaced_script(c: char) -> bool {
    matches!(c,
        '\u{0E01}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECE}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{109D}' | '\u{1780}'..='\u{17D3}'
        | '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{AC00}'..='\u{D7FB}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{312F}' | '\u{3131}'..='\u{318E}' | '\u{31A0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a character closes a quotation or a bracket.
pub(crate) fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '」' | '』' | '）' | '】' | '*' | '_' | '`')
}
