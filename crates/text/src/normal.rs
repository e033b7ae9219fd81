//! The form in which texts and phrases are compared.

use crate::chars::{ascii_word, is_unspaced, is_word};

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
        let (mut normal, mut at, mut before) = (Self { text, starts }, 0, ' ');
        while at < said.len() {
            // most words have nothing else
            let run = ascii_word(&said[at..]);
            if run > 0 {
                normal.start(at, before);
                normal.text.push_str(&said[at..at + run]);
                (at, before) = (at + run, 'a');
            }
            let Some(c) = said[at..].chars().next() else { break };
            let next = at + c.len_utf8();
            let c = if c == '’' { '\'' } else { c };
            let joins = matches!(c, '\'' | '-' | '_') && is_word(before);
            if is_word(c) {
                if !is_unspaced(c) {
                    normal.start(at, before);
                }
                normal.text.extend(c.to_lowercase());
            } else if joins && said[next..].starts_with(is_word) {
                normal.text.push(c);
            } else if c != ' ' && is_part(c) && !normal.text.ends_with(',') {
                normal.text.push(',');
            }
            before = if joins || is_word(c) { c } else { ' ' };
            at = next;
        }
        normal.text.make_ascii_lowercase();
        normal
    }

    /// Begins a word with a blank, unless it goes on.
    fn start(&mut self, at: usize, before: char) {
        let goes_on = is_word(before) || matches!(before, '\'' | '-' | '_');
        if !goes_on || is_unspaced(before) {
            self.text.push(' ');
            self.starts.push(at);
        }
    }
}
