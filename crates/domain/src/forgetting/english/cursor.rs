//! A sentence split into words, quoted texts and marks, with a position in it.

use crate::forgetting::{InstructionError, Result};

/// The most words in an unquoted name.
pub(super) const MAX_NAME_WORDS: usize = 4;

/// A piece of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// The token as written; for a quoted text, without its quotes.
    pub text: &'a str,
    /// In lower case, with straight apostrophes.
    pub lower: String,
    pub kind: Kind,
    /// The token's bytes in the sentence, quotes included.
    start: usize,
    end: usize,
}

/// The kinds of [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, a number, or a run of other characters. A possessive `'s` is a word of its own.
    Word,
    /// A text in quotes.
    Quoted,
    /// A punctuation mark.
    Mark,
}

/// A position in a sentence. Functions that read a phrase either consume it or do not move.
pub(super) struct Cursor<'a> {
    source: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    end: usize,
    /// Whether capital letters indicate names: not if all letters are capitals.
    capitals: bool,
    /// Whether a verb of forgetting or keeping was read.
    pub commanded: bool,
}

impl<'a> Cursor<'a> {
    /// Splits `source` into tokens.
    ///
    /// # Errors
    /// An unclosed double quote.
    pub fn new(source: &'a str) -> Result<Self> {
        let tokens = split(source)?;
        let capitals = source.contains(char::is_lowercase);
        Ok(Self { source, end: tokens.len(), tokens, at: 0, capitals, commanded: false })
    }

    /// Replaces each word that `reading` returns a reading for; returns whether there was any.
    pub fn reread(&mut self, reading: impl Fn(&str) -> Option<&'static str>) -> bool {
        let words = self.tokens.iter_mut().filter(|token| token.kind == Kind::Word);
        words.fold(false, |any, token| match reading(&token.lower) {
            Some(word) => {
                token.lower = word.to_owned();
                true
            }
            None => any,
        })
    }

    /// Returns the words left, without those in quotes.
    pub fn words(&self) -> impl Iterator<Item = &Token<'a>> {
        let left = self.tokens[..self.end].get(self.at..).unwrap_or_default();
        left.iter().filter(|token| token.kind == Kind::Word)
    }

    /// The position, to return to with [`Self::back`].
    pub fn at(&self) -> usize {
        self.at
    }

    /// Moves to a position.
    pub fn back(&mut self, at: usize) {
        self.at = at;
    }

    /// Moves to a position, unless what was sought is found.
    pub fn back_unless(&mut self, found: bool, at: usize) {
        if !found {
            self.at = at;
        }
    }

    /// The end of the sentence, without closing words and marks.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Moves the end; returns where it was.
    pub fn limit(&mut self, end: usize) -> usize {
        std::mem::replace(&mut self.end, end)
    }

    /// Whether nothing is left.
    pub fn done(&self) -> bool {
        self.at >= self.end
    }

    /// The token at the position.
    pub fn peek(&self) -> Option<&Token<'a>> {
        self.token(self.at)
    }

    /// The word at the position, in lower case; empty if there is none.
    pub fn peek_word(&self) -> &str {
        self.word_at(self.at)
    }

    /// The word at another position, in lower case; empty if there is none.
    pub fn word_at(&self, at: usize) -> &str {
        self.token(at).filter(|token| token.kind == Kind::Word).map_or("", |token| &token.lower)
    }

    /// The token at another position.
    pub fn token(&self, at: usize) -> Option<&Token<'a>> {
        self.tokens[..self.end].get(at)
    }

    /// Consumes any token.
    pub fn advance(&mut self) {
        self.at = self.end.min(self.at + 1);
    }

    /// Consumes `word`.
    pub fn word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        self.at += usize::from(found);
        found
    }

    /// Consumes one of `words`.
    pub fn any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.word(word))
    }

    /// Consumes the words of `phrase`.
    pub fn phrase(&mut self, phrase: &str) -> bool {
        let start = self.at;
        let found = phrase.split(' ').all(|word| self.word(word));
        if !found {
            self.at = start;
        }
        found
    }

    /// Consumes the first of `phrases` that matches.
    pub fn phrases(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.phrase(phrase))
    }

    /// Consumes a mark.
    pub fn mark(&mut self, mark: char) -> bool {
        let found = self.peek().is_some_and(|token| token.is_mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Removes a mark from the end.
    pub fn drop_last_mark(&mut self, mark: char) -> bool {
        let found = self.end > self.at && self.tokens[self.end - 1].is_mark(mark);
        self.end -= usize::from(found);
        found
    }

    /// Removes a phrase from the end.
    pub fn drop_last_phrase(&mut self, phrase: &str) -> bool {
        let length = phrase.split(' ').count();
        let Some(start) = self.end.checked_sub(length).filter(|&start| start >= self.at) else {
            return false;
        };
        let found = phrase.split(' ').enumerate().all(|(index, word)| self.word_at(start + index) == word);
        self.end -= if found { length } else { 0 };
        found
    }

    /// Consumes a name: a quoted text, up to four capitalised words, or a word that looks like an identifier.
    pub fn name(&mut self, is_no_name: fn(&str) -> bool) -> Option<String> {
        let first = self.peek()?;
        if first.kind == Kind::Quoted && !first.text.trim().is_empty() {
            let name = first.text.to_owned();
            self.advance();
            return Some(name);
        }
        let capital = |token: &Token<'_>| self.capitals && token.text.starts_with(char::is_uppercase);
        let fits = |token: &&Token<'_>| token.kind == Kind::Word && !is_no_name(&token.lower);
        let start = self.at;
        let rest = self.tokens[start..self.end].iter().take(MAX_NAME_WORDS + 1).take_while(fits);
        let length = rest.take_while(|token| capital(token)).count();
        let identifier = fits(&first) && first.is_identifier();
        let length = if length == 0 { usize::from(identifier) } else { length };
        if length == 0 || length > MAX_NAME_WORDS {
            return None;
        }
        let name: Vec<_> = self.tokens[start..start + length].iter().map(|token| token.text).collect();
        let name = name.join(" ");
        self.at += length;
        Some(name)
    }

    /// What is left, as written, without closing words and marks.
    pub fn rest(&self) -> &'a str {
        self.slice(self.at, self.end)
    }

    /// The tokens from `start` to before `end`, as written.
    pub fn slice(&self, start: usize, end: usize) -> &'a str {
        match self.tokens[..end].get(start..) {
            Some([first, .., last]) => &self.source[first.start..last.end],
            Some([only]) => &self.source[only.start..only.end],
            _ => "",
        }
    }

    /// An error: the sentence is not understood from here on.
    pub fn not_understood(&self) -> InstructionError {
        let rest = if self.done() { self.source } else { self.rest() };
        InstructionError::not_understood(rest)
    }

    /// An error that refuses the words from `start` to here.
    pub fn refused(&self, start: usize, why: &'static str) -> InstructionError {
        InstructionError::part(self.slice(start, self.at.max(start + 1).min(self.end)), why)
    }
}

impl Token<'_> {
    /// Whether it is this punctuation mark.
    pub fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark && self.text.starts_with(mark)
    }

    /// Whether it looks like a machine-readable name: `get_weather`, `bob2`.
    pub fn is_identifier(&self) -> bool {
        let digit_inside =
            self.text.starts_with(char::is_alphabetic) && self.text.contains(|c: char| c.is_ascii_digit());
        digit_inside || self.text.contains(['_', '@'])
    }
}

/// Splits a sentence into tokens.
fn split(source: &str) -> Result<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut single_quotes = true;
    while let Some(c) = source[at..].chars().next() {
        let from = at + c.len_utf8();
        if c.is_whitespace() {
            at = from;
        } else if matches!(c, '"' | '“') {
            let length = source[from..]
                .find(['"', '”'])
                .ok_or_else(|| InstructionError::part(&source[at..], "the closing quote is missing"))?;
            at = push_quoted(&mut tokens, source, at, from + length);
        } else if single_quotes && let Some(end) = closing_single(source, from, c) {
            at = push_quoted(&mut tokens, source, at, end);
        } else if is_mark(source, at, c) {
            tokens.push(Token::new(source, at, from, Kind::Mark));
            at = from;
        } else {
            single_quotes &= !matches!(c, '\'' | '‘');
            at = push_word(&mut tokens, source, at);
        }
    }
    Ok(tokens)
}

/// The end of a text in single quotes opened by `open`: the next quote not followed by a letter or digit.
fn closing_single(source: &str, from: usize, open: char) -> Option<usize> {
    let close = match open {
        '\'' => '\'',
        '‘' => '’',
        _ => return None,
    };
    let ends = |at: &usize| !source[at + close.len_utf8()..].starts_with(char::is_alphanumeric);
    source[from..].match_indices(close).map(|(at, _)| from + at).find(ends)
}

/// Whether the character at `at` is a punctuation mark rather than part of a word or a number.
fn is_mark(source: &str, at: usize, c: char) -> bool {
    let next = source[at + c.len_utf8()..].chars().next();
    match c {
        ',' | ';' | '!' | '?' | '…' | '(' | ')' | '[' | ']' | '”' => true,
        '.' | ':' | '-' | '–' | '—' if next.is_none_or(|next| !next.is_alphanumeric()) => true,
        ':' => {
            source[..at].get(at.saturating_sub(5)..).is_some_and(|word| word.eq_ignore_ascii_case("about"))
        }
        _ => false,
    }
}

/// Pushes the text between the quotes at `at` and `close`; returns the place after it.
fn push_quoted<'a>(tokens: &mut Vec<Token<'a>>, source: &'a str, at: usize, close: usize) -> usize {
    let width = |at: usize| source[at..].chars().next().map_or(0, char::len_utf8);
    let end = close + width(close);
    let mut token = Token::new(source, at, end, Kind::Quoted);
    token.text = &source[at + width(at)..close];
    tokens.push(token);
    end
}

/// Pushes the word that starts at `at`, splitting off a possessive ending; returns the place after it.
fn push_word<'a>(tokens: &mut Vec<Token<'a>>, source: &'a str, at: usize) -> usize {
    let inside = |&(offset, c): &(usize, char)| {
        !c.is_whitespace()
            && !matches!(c, '"' | '“' | '”')
            && (offset == 0 || !is_mark(source, at + offset, c))
    };
    let length =
        source[at..].char_indices().take_while(inside).map(|(offset, c)| offset + c.len_utf8()).last();
    let end = at + length.unwrap_or(0);
    let word = &source[at..end];
    let stem = ["'s", "’s", "'", "’"].into_iter().find_map(|ending| word.strip_suffix(ending));
    let stem_end = at + stem.filter(|stem| !stem.is_empty()).unwrap_or(word).len();
    tokens.push(Token::new(source, at, stem_end, Kind::Word));
    if stem_end < end {
        tokens.push(Token::new(source, stem_end, end, Kind::Word));
    }
    end
}

impl<'a> Token<'a> {
    fn new(source: &'a str, start: usize, end: usize, kind: Kind) -> Self {
        let text = &source[start..end];
        Self { text, lower: text.to_lowercase().replace('’', "'"), kind, start, end }
    }
}
