//! The form in which texts and phrases are compared.

use crate::chars::{is_unspaced, is_word, span};

/// Whether a mark ends a clause.
fn is_part(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '…' | '–' | '—')
        || matches!(c, '，' | '。' | '；' | '：' | '！' | '？' | '、')
}

/// A text in lower case: a blank before each word, a comma for any mark, nothing between words without spaces.
#[derive(Default)]
pub(crate) struct Normal {
    pub text: String,
    /// Where each word with a blank before it starts in the text as it was.
    pub starts: Vec<usize>,
}

impl Normal {
    pub(crate) fn of(said: &str) -> Self {
        let (text, starts) = (String::with_capacity(said.len() + 8), Vec::with_capacity(said.len() / 4 + 1));
        let mut normal = Self { text, starts };
        let (mut at, mut before) = (0, ' ');
        while let Some(c) = said[at..].chars().next() {
            if c == ' ' {
                (at, before) = (at + 1, ' ');
                continue;
            }
            let run = span(&said[at..], |c| c.is_ascii_alphanumeric());
            let next = at + run.max(c.len_utf8());
            let c = if c == '’' { '\'' } else { c };
            let (is_in_word, joins) =
                (run > 0 || is_word(c), matches!(c, '\'' | '-' | '_') && is_word(before));
            if is_in_word {
                let starts = !is_word(before) && !matches!(before, '\'' | '-' | '_') || is_unspaced(before);
                if starts && !is_unspaced(c) {
                    normal.text.push(' ');
                    normal.starts.push(at);
                }
                match run {
                    0 => normal.text.extend(c.to_lowercase()),
                    _ => normal.text.push_str(&said[at..next]),
                }
            } else if joins && said[next..].chars().next().is_some_and(is_word) {
                normal.text.push(c);
            } else if is_part(c) && !normal.text.ends_with(',') {
                normal.text.push(',');
            }
            before = if is_in_word || joins { c } else { ' ' };
            at = next;
        }
        normal.text.make_ascii_lowercase();
        normal
    }
}
