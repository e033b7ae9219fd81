//! Names: words with capitals.

use std::cell::OnceCell;

use super::{
    kind::Kind,
    part::{Part, Role},
    tokens::Token,
};
use crate::{
    cues::{Cues, cues},
    language::{Language, is_stop},
    sentences::abbreviates,
};

/// No name has more words; what has is a headline.
const WORDS: usize = 5;

/// Collects the names of a text, word by word.
pub(super) struct Names<'a> {
    text: &'a str,
    language: OnceCell<Language>,
    found: Vec<Part>,
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
    /// Where it starts without that word.
    second: usize,
}

impl<'a> Names<'a> {
    /// The names of a text in `language`, or in what the text shows.
    pub(super) fn new(text: &'a str, language: Option<Language>) -> Self {
        let language = language.map(OnceCell::from).unwrap_or_default();
        Self { text, language, found: Vec::new(), open: None, is_apart: true }
    }

    fn language(&self) -> Language {
        *self.language.get_or_init(|| Language::of(self.text, Language::English))
    }

    /// Reads a token that is just a word.
    pub(super) fn word(&mut self, token: &Token<'a>) {
        let opens = self.opens_sentence(token);
        let goes_on = !opens && !self.is_apart && (token.before == " " || self.is_short(token));
        self.is_apart = false;
        let joins = self.open.is_some() && goes_on;
        if joins && self.is_particle(token.text) {
            return;
        }
        if !joins {
            self.end();
            self.is_apart = false;
        }
        if !is_capital(token.text) || opens && self.is_function_word(token.text) {
            return self.close();
        }
        let end = token.start + token.text.len();
        match &mut self.open {
            Some(open) => {
                open.second = if open.words == 1 { token.start } else { open.second };
                (open.end, open.words) = (end, open.words + 1);
            }
            None => self.open = Some(Open { start: token.start, end, words: 1, opens, second: token.start }),
        }
    }

    /// Reads something else.
    pub(super) fn end(&mut self) {
        self.close();
        self.is_apart = true;
    }

    pub(super) fn done(mut self) -> Vec<Part> {
        self.close();
        self.found
    }

    fn close(&mut self) {
        let Some(Open { mut start, end, mut words, mut opens, second }) = self.open.take() else { return };
        if opens && words > 1 && cues(&self.text[start..second]).has(Cues::REQUEST) {
            (start, words, opens) = (second, words - 1, false);
        }
        let is_single = words == 1;
        let name = &self.text[start..end];
        let is_noun = || self.language() == Language::German && name.chars().skip(1).any(char::is_lowercase);
        let is_name = !is_single || !opens && !is_noun() && !self.is_function_word(name);
        if is_name && words <= WORDS {
            self.found.push(Part { role: Role::Whole(Kind::Name), start, end });
        }
    }

    fn is_function_word(&self, word: &str) -> bool {
        word.len() < 16 && is_stop(&word.to_lowercase().replace('’', "'"), self.language())
    }

    /// A small word within a name. In German, `von` stands between any two nouns.
    fn is_particle(&self, word: &str) -> bool {
        const PARTICLES: &str = " al bin da de del della den der di dos du ibn la le van von zu of ";
        let is_listed = PARTICLES.split(' ').any(|particle| particle == word && !word.is_empty());
        is_listed && !(self.language() == Language::German && self.is_function_word(word))
    }

    /// Whether a token begins a sentence or a line, or a quotation.
    fn opens_sentence(&self, token: &Token<'_>) -> bool {
        let is_first = token.start == token.before.len() && !token.before.contains(char::is_alphanumeric);
        let parts = |c: char| {
            matches!(c, '!' | '?' | ':' | '\n' | '"' | '“' | '„' | '«' | '…' | '*' | '|' | '>' | '#' | '。')
        };
        is_first || token.before.contains(parts) || token.before.contains('.') && !self.is_short(token)
    }

    /// Whether the full stop before a token is that of an abbreviation or an initial.
    fn is_short(&self, token: &Token<'_>) -> bool {
        let behind = &self.text[token.start - token.before.len()..];
        let end = token.start - token.before.len();
        token.before == ". " && behind.starts_with('.') && {
            let start = self.text.floor_char_boundary(end.saturating_sub(64));
            abbreviates(&self.text[start..end], &self.text[token.start..])
        }
    }
}

/// A word of letters with a capital at its beginning, and more than that letter unless it is an initial.
fn is_capital(word: &str) -> bool {
    let is_inner = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-');
    word.starts_with(char::is_uppercase) && word.chars().all(is_inner) && word != "I"
}
