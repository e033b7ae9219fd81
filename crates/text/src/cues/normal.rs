//! The form in which texts and phrases are compared.

use crate::chars::{is_unspaced, is_word};

/// The text in lower case: a blank before each word, a comma for any mark, nothing between words without spaces.
pub(super) fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let c = if c == '’' { '\'' } else { c };
        let joins = matches!(c, '\'' | '-' | '_') && is_word(before);
        if is_word(c) {
            let starts = !is_word(before) && !matches!(before, '\'' | '-' | '_') || is_unspaced(before);
            if starts && !is_unspaced(c) {
                normal.push(' ');
            }
            match c.is_ascii() {
                true => normal.push(c.to_ascii_lowercase()),
                false => normal.extend(c.to_lowercase()),
            }
        } else if joins && rest.clone().next().is_some_and(is_word) {
            normal.push(c);
        } else if parts(c) && !normal.ends_with(',') {
            normal.push(',');
        }
        before = if is_word(c) || joins { c } else { ' ' };
    }
    normal
}

/// Where the word begins that `before` words precede, of those that [`normal`] sets apart; the end if there is none.
pub(super) fn word_start(text: &str, before: usize) -> usize {
    let mut last = ' ';
    let mut left = before;
    for (at, c) in text.char_indices() {
        if is_word(c) && !is_word(last) && !matches!(last, '\'' | '’' | '-' | '_') {
            if left == 0 {
                return at;
            }
            left -= 1;
        }
        let joins = matches!(c, '\'' | '’' | '-' | '_') && is_word(last);
        last = if is_word(c) || joins { c } else { ' ' };
    }
    text.len()
}

/// Whether a mark ends a clause.
fn parts(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '('
            | ')'
            | '…'
            | '–'
            | '—'
            | '，'
            | '。'
            | '；'
            | '：'
            | '！'
            | '？'
            | '、'
    )
}
