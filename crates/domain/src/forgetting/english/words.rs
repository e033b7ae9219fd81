//! A sentence, read once into tokens, each with what the phrases are that begin there.

use crate::forgetting::{
    InstructionError, Result,
    table::{GRAMMAR, LONGEST, Sense},
};

/// Marks that are tokens of their own after a word.
const MARKS: [char; 6] = [',', '.', ';', ':', '!', '?'];

/// A word, a text in quotes, or a mark.
pub(super) struct Token<'a> {
    /// As written, without quotes.
    pub text: &'a str,
    /// In lower case, with straight apostrophes; empty for a text in quotes.
    pub lower: String,
    pub quoted: bool,
    /// The longer ones first.
    pub senses: Vec<Sense>,
    /// Its bytes in the sentence, quotes included.
    start: usize,
    end: usize,
}

/// A sentence with a position in it.
pub(super) struct Words<'a> {
    source: &'a str,
    pub tokens: Vec<Token<'a>>,
    pub at: usize,
    /// Where politeness and marks begin that end the sentence.
    pub end: usize,
    /// How far anything was understood.
    pub furthest: usize,
    /// How many slots are being filled, each for the one before.
    pub depth: usize,
    /// Why the sentence is refused, if something in it was understood that says so.
    pub why: Option<InstructionError>,
    /// Whether a capital letter marks a name: not if all letters are capitals.
    capitals: bool,
}

impl<'a> Words<'a> {
    /// # Errors
    /// A quote that is not closed.
    pub fn of(source: &'a str) -> Result<Self> {
        let mut tokens = split(source)?;
        let lower: Vec<_> = tokens.iter().map(|token| token.lower.clone()).collect();
        for (at, token) in tokens.iter_mut().enumerate() {
            let phrases =
                (1..=LONGEST.min(lower.len() - at)).rev().map(|length| lower[at..at + length].join(" "));
            token.senses =
                phrases.filter_map(|phrase| GRAMMAR.senses.get(&*phrase)).flatten().copied().collect();
        }
        let capitals = source.contains(char::is_lowercase);
        Ok(Self { source, end: tokens.len(), tokens, at: 0, furthest: 0, depth: 0, why: None, capitals })
    }

    /// Drops politeness around the sentence and the marks at its end. Returns whether it begins as a question, and whether
    /// it ends as one.
    pub fn trim(&mut self) -> (bool, bool) {
        let (mut asks, mut question) = (false, false);
        while let Some(sense) = self.sense("polite") {
            self.at += sense.length;
            asks |= sense.meaning == "asks";
            self.at += usize::from(self.peek().is_some_and(|token| token.lower == ","));
        }
        while let Some(length) = (1..=LONGEST).find(|length| self.closes(*length)) {
            self.end -= length;
            question |= self.tokens[self.end].lower == "?";
        }
        (asks, question)
    }

    /// Whether the last tokens are politeness or a mark.
    fn closes(&self, length: usize) -> bool {
        let Some(at) = self.end.checked_sub(length).filter(|at| *at >= self.at) else { return false };
        let mark = length == 1 && matches!(&*self.tokens[at].lower, "." | "!" | "," | "?");
        mark || self.tokens[at].senses.iter().any(|sense| sense.kind == "polite" && sense.length == length)
    }

    pub fn done(&self) -> bool {
        self.at >= self.end
    }

    pub fn peek(&self) -> Option<&Token<'a>> {
        self.tokens[..self.end].get(self.at)
    }

    /// The longest phrase of this kind without slots at the position.
    pub fn sense(&self, kind: &str) -> Option<Sense> {
        self.sense_at(self.at, kind)
    }

    pub fn sense_at(&self, at: usize, kind: &str) -> Option<Sense> {
        let token = self.tokens[..self.end].get(at)?;
        token.senses.iter().find(|sense| sense.kind == kind && at + sense.length <= self.end).copied()
    }

    /// Consumes what `read` reads, or nothing.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let found = read(self);
        self.furthest = self.furthest.max(self.at);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    /// Whether a token is a word of a name: an identifier, or capitalised and not in the table.
    pub fn is_name(&self, token: &Token<'_>) -> bool {
        let capital = self.capitals && token.is_unknown() && token.text.starts_with(char::is_uppercase);
        capital || token.is_identifier()
    }

    /// The tokens from `start` to before `end`, as written.
    pub fn slice(&self, start: usize, end: usize) -> &'a str {
        match self.tokens[..end].get(start..) {
            Some(tokens @ [first, ..]) => &self.source[first.start..tokens[tokens.len() - 1].end],
            _ => "",
        }
    }

    /// Notes why the tokens from `start` to before `end` are refused, unless there is a reason already.
    pub fn refuse(
        &mut self,
        start: usize,
        end: usize,
        why: &'static str,
        forms: impl IntoIterator<Item = String>,
    ) {
        if self.why.is_none() {
            self.why = Some(InstructionError::part(self.slice(start, end), why).suggesting(forms));
        }
    }
}

impl Token<'_> {
    /// Whether it is a word that the table does not have.
    pub fn is_unknown(&self) -> bool {
        !self.quoted && self.senses.is_empty() && self.text.contains(char::is_alphabetic)
    }

    /// Whether it looks like an identifier: `get_weather`, `bob2`.
    pub fn is_identifier(&self) -> bool {
        let digit =
            self.text.starts_with(char::is_alphabetic) && self.text.contains(|c: char| c.is_ascii_digit());
        self.is_unknown() && (digit || self.text.contains(['_', '@']))
    }
}

/// Splits a sentence at blanks, and splits the marks and the possessive ending off its words.
fn split(source: &str) -> Result<Vec<Token<'_>>> {
    let is_quote = |c: char| matches!(c, '"' | '“' | '”');
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let from = at + c.len_utf8();
        if c.is_whitespace() {
            at = from;
        } else if is_quote(c) {
            let unclosed = || InstructionError::part(&source[at..], "the closing quote is missing");
            let length = source[from..].find(is_quote).ok_or_else(unclosed)?;
            let close = from + length;
            let end = close + source[close..].chars().next().map_or(0, char::len_utf8);
            tokens.push(Token { text: &source[from..close], ..Token::new(source, at, end, true) });
            at = end;
        } else {
            let length = source[at..].find(|c: char| c.is_whitespace() || is_quote(c));
            let end = length.map_or(source.len(), |length| at + length);
            push_word(&mut tokens, source, at, end);
            at = end;
        }
    }
    Ok(tokens)
}

/// Pushes the parts of a word: the "turn" of `turn_4`, the possessive ending, and each mark after it.
fn push_word<'a>(tokens: &mut Vec<Token<'a>>, source: &'a str, start: usize, end: usize) {
    let word = source[start..end].trim_end_matches(MARKS);
    let stem =
        ["'s", "’s", "'", "’"].into_iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    let (stem_end, word_end) = (start + stem.len(), start + word.len());
    let underscore = stem.to_ascii_lowercase().starts_with("turn_").then_some(start + 4);
    let parts = match underscore {
        Some(at) => [(start, at), (at + 1, stem_end)],
        None => [(start, stem_end), (stem_end, stem_end)],
    };
    let parts = parts.into_iter().chain([(stem_end, word_end)]).chain((word_end..end).map(|at| (at, at + 1)));
    tokens.extend(parts.filter(|(from, to)| from < to).map(|(from, to)| Token::new(source, from, to, false)));
}

impl<'a> Token<'a> {
    fn new(source: &'a str, start: usize, end: usize, quoted: bool) -> Self {
        let text = &source[start..end];
        let lower = if quoted { String::new() } else { text.to_lowercase().replace('’', "'") };
        Self { text, lower, quoted, senses: Vec::new(), start, end }
    }
}
