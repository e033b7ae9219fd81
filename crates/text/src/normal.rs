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

/// What stands before a character.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Word,
    /// A word of a script without spaces.
    Unspaced,
    /// A mark that can join two words.
    Joint,
    Other,
}

impl Normal {
    pub(crate) fn of(said: &str) -> Self {
        let (text, starts) = (String::with_capacity(said.len() + 8), Vec::with_capacity(said.len() / 4 + 1));
        let (mut normal, mut at, mut before) = (Self { text, starts }, 0, Before::Other);
        while at < said.len() {
            // most words have nothing else
            let run = ascii_word(&said[at..]);
            if run > 0 {
                normal.start(at, before);
                normal.text.push_str(&said[at..at + run]);
                (at, before) = (at + run, Before::Word);
            }
            let mut behind = said[at..].chars();
            let Some(c) = behind.next() else { break };
            let joins =
                matches!(c, '\'' | '’' | '-' | '_') && matches!(before, Before::Word | Before::Unspaced);
            before = match c {
                ' ' => Before::Other,
                _ if is_unspaced(c) && is_word(c) => {
                    normal.text.push(c);
                    Before::Unspaced
                }
                _ if is_word(c) => {
                    normal.start(at, before);
                    normal.text.extend(c.to_lowercase());
                    Before::Word
                }
                _ if joins => {
                    if behind.next().is_some_and(is_word) {
                        normal.text.push(if c == '’' { '\'' } else { c });
                    }
                    Before::Joint
                }
                _ => {
                    if is_part(c) && !normal.text.ends_with(',') {
                        normal.text.push(',');
                    }
                    Before::Other
                }
            };
            at += c.len_utf8();
        }
        normal.text.make_ascii_lowercase();
        normal
    }

    /// Begins a word with a blank, unless it goes on.
    fn start(&mut self, at: usize, before: Before) {
        if matches!(before, Before::Unspaced | Before::Other) {
            self.text.push(' ');
            self.starts.push(at);
        }
    }
}
