//! Splits text into what stands between blanks and brackets.

use crate::chars::is_unspaced;

/// A token, without the punctuation around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    pub start: usize,
    /// What stands between it and the token before it.
    pub before: &'a str,
}

/// The tokens of a text.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let (mut at, mut last) = (0, 0);
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find(|c| !splits(c))?;
            let end = at + length(&text[at..]);
            let raw = &text[at..end];
            let bare = raw.trim_start_matches(['\'', '*', '!', '?', ':', '‘', '(', ',', '’']);
            let start = end - bare.len();
            let bare = trimmed(bare);
            at = end;
            if !bare.is_empty() {
                let before = &text[last..start];
                last = start + bare.len();
                return Some(Token { text: bare, start, before });
            }
        }
    })
}

/// Without punctuation behind it.
fn trimmed(text: &str) -> &str {
    let ends = |c: char| {
        matches!(c, '.' | ':' | '!' | '?' | '\'' | '*' | '’' | ',' | '/' | '-' | ')' | '\\' | '&' | '=')
    };
    let bare = text.trim_end_matches(ends);
    // a call, a root
    if text[bare.len()..].starts_with(')') && bare.ends_with('(') { &text[..=bare.len()] } else { bare }
}

/// Whether a character is part of no token.
fn splits(c: char) -> bool {
    let is_mark = matches!(
        c,
        '"' | '<'
            | '>'
            | '`'
            | '|'
            | ';'
            | '{'
            | '}'
            | '['
            | ']'
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '…'
            | '–'
            | '—'
            | '='
    );
    c.is_whitespace()
        || is_mark
        || matches!(c, '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{303F}' | '\u{FF00}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF1F}')
}

/// The length of the token that a text begins with.
fn length(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if before == '/' && c == '/' && text[..at].ends_with(":/") {
            return at + text[at..].find(ends_address).unwrap_or(text.len() - at);
        }
        if c.is_ascii_alphanumeric() && before.is_ascii() {
            before = c;
            continue;
        }
        let rest = &text[at + c.len_utf8()..];
        let ends = match c {
            '(' => !rest.starts_with(')') || !before.is_alphanumeric(),
            ')' => before != '(',
            ',' => !(before.is_ascii_digit() && rest.starts_with(|next: char| next.is_ascii_digit())),
            _ => splits(c) || at > 0 && is_unspaced(c) != is_unspaced(before),
        };
        if ends {
            return if at > 0 { at } else { c.len_utf8() };
        }
        before = c;
    }
    text.len()
}

fn ends_address(c: char) -> bool {
    c.is_whitespace()
        || is_unspaced(c)
        || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')' | ']' | '}' | '|' | '，' | '。')
}
