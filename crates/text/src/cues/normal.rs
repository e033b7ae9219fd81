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
            normal.extend(c.to_lowercase());
        } else if joins && rest.clone().next().is_some_and(is_word) {
            normal.push(c);
        } else if parts(c) && !normal.ends_with(',') {
            normal.push(',');
        }
        before = if is_word(c) || joins { c } else { ' ' };
    }
    normal
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
