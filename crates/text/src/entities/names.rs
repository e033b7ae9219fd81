//! Names: words with capitals.

use std::cell::OnceCell;

use super::{
    kind::{Entity, Kind},
    tokens::Token,
};
use crate::language::{Language, is_stop};

/// No name has more words; what has is a headline.
const WORDS: usize = 5;

/// Reads the names of a text, word by word.
pub(super) struct Names<'a> {
    text: &'a str,
    language: OnceCell<Language>,
    open: Option<Open>,
    /// Something was read since the last word.
    is_apart: bool,
}

/// A name as far as it was read.
struct Open {
    start: usize,
    end: usize,
    words: usize,
    /// Its first word opens a sentence.
    opens: bool,
}

impl<'a> Names<'a> {
    /// The names of a text in `language`, or in what the text shows.
    pub(super) fn new(text: &'a str, language: Option<Language>) -> Self {
        let language = language.map(OnceCell::from).unwrap_or_default();
        Self { text, language, open: None, is_apart: true }
    }

    fn language(&self) -> Language {
        *self.language.get_or_init(|| Language::of(self.text, Language::English))
    }

    /// Reads a token that is just a word; returns the name that it ends.
    pub(super) fn word(&mut self, token: &Token<'a>) -> Option<Entity<'a>> {
        let opens = opens_sentence(token);
        let goes_on = !opens && !self.is_apart && token.before == " ";
        self.is_apart = false;
        let before = if goes_on { None } else { self.close() };
        if !is_capital(token.text) || opens && self.is_function_word(token.text) {
            return before.or_else(|| self.close());
        }
        let end = token.start + token.text.len();
        let open = self.open.get_or_insert(Open { start: token.start, end, words: 0, opens });
        (open.end, open.words) = (end, open.words + 1);
        before
    }

    /// Reads something else, or the end; returns the name before it.
    pub(super) fn end(&mut self) -> Option<Entity<'a>> {
        self.is_apart = true;
        self.close()
    }

    fn close(&mut self) -> Option<Entity<'a>> {
        let Open { start, end, words, opens } = self.open.take()?;
        let text = &self.text[start..end];
        let is_noun = || self.language() == Language::German && text.chars().skip(1).any(char::is_lowercase);
        let is_name = words > 1 || !opens && !is_noun() && !self.is_function_word(text);
        (is_name && words <= WORDS).then_some(Entity { text, start, kind: Kind::Name })
    }

    fn is_function_word(&self, word: &str) -> bool {
        let lower = || match word.contains('’') {
            true => word.to_lowercase().replace('’', "'"),
            false => word.to_lowercase(),
        };
        word.len() < 16 && is_stop(&lower(), self.language())
    }
}

/// Whether a token begins a sentence or a line, or a quotation.
fn opens_sentence(token: &Token<'_>) -> bool {
    let is_first = token.start == token.before.len() && !token.before.contains(char::is_alphanumeric);
    let parts = |c: char| {
        matches!(c, '.' | '!' | '?' | ':' | '\n' | '"' | '“' | '„' | '«' | '…' | '*' | '|' | '>' | '#' | '。')
    };
    is_first || token.before.contains(parts)
}

/// A word of letters with a capital at its beginning, and more than that letter unless it is an initial.
fn is_capital(word: &str) -> bool {
    let is_inner = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-');
    word.starts_with(char::is_uppercase) && word.chars().all(is_inner) && word != "I"
}
