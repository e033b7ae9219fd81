//! Several topics: "Paris and London", "my salary and my address", "Paris and everything about Rome".
//!
//! "And" separates topics if each makes sense on its own: a quoted text, a name, a word or two, or a phrase
//! that begins with "the", "my" or the like. It is part of a single topic if the phrases it joins depend on
//! an earlier word, as in "the trip to Rome and Milan".

use crate::forgetting::{doubts, words};

use super::cursor::{Cursor, Kind, MAX_NAME_WORDS};

/// Words that can begin an independent topic.
const DETERMINERS: [&str; 12] =
    ["the", "my", "your", "his", "her", "its", "our", "their", "this", "that", "a", "an"];
/// Words that make the next phrase depend on them.
pub(super) const PREPOSITIONS: [&str; 18] = [
    "of", "to", "in", "on", "at", "for", "from", "with", "by", "between", "after", "before", "through",
    "into", "over", "under", "about", "how",
];
/// The most words in a topic that is not a name and has no determiner.
const BARE_WORDS: usize = 2;

/// A topic's range of tokens.
#[derive(Clone, Copy)]
pub(super) struct Topic {
    pub from: usize,
    pub to: usize,
    /// It has its own introduction: "and about London".
    introduced: bool,
}

/// The topics from `start` to before `end`: several if `joint` joins independent ones.
pub(super) fn split(cursor: &mut Cursor<'_>, start: usize, end: usize, joint: &str) -> Vec<Topic> {
    let back = cursor.at();
    let topics = pieces(cursor, start, end, joint);
    cursor.back(back);
    let hangs = |pair: &[Topic]| pair[0].has_preposition(cursor) && !pair[1].is_marked(cursor);
    let stand = topics.iter().all(|topic| topic.stands(cursor, end)) && !topics.windows(2).any(hangs);
    match stand && topics.len() > 1 {
        true => topics,
        false => vec![Topic { from: start, to: end, introduced: false }],
    }
}

/// The parts between joints, and between commas if there is a joint.
fn pieces(cursor: &mut Cursor<'_>, start: usize, end: usize, joint: &str) -> Vec<Topic> {
    let is_joint = |cursor: &Cursor<'_>, at: usize| cursor.word_at(at) == joint;
    let (mut pieces, mut at, mut joined) = (Vec::new(), start, false);
    while at < end {
        let (from, introduced) = introduced(cursor, at, at > start);
        let ends =
            |at: &usize| is_joint(cursor, *at) || cursor.token(*at).is_some_and(|token| token.is_mark(','));
        let to = (from..end).find(ends).unwrap_or(end);
        pieces.push(Topic { from, to, introduced });
        let comma = to < end && !is_joint(cursor, to);
        joined |= to < end && !comma;
        at = to + 1;
        if comma && is_joint(cursor, at) {
            joined = true;
            at += 1;
        }
    }
    pieces.truncate(if joined { pieces.len() } else { 0 });
    pieces
}

/// Skips "everything about" before a further topic.
fn introduced(cursor: &mut Cursor<'_>, at: usize, further: bool) -> (usize, bool) {
    cursor.back(at);
    cursor.any(&["everything", "anything"]);
    match further && (cursor.phrases(&words::TOPIC) || cursor.phrases(&words::CONTAINING)) {
        true => (cursor.at(), true),
        false => (at, false),
    }
}

/// Whether another instruction begins at `at`.
pub(super) fn begins_another(cursor: &Cursor<'_>, at: usize, end: usize) -> bool {
    let word = cursor.word_at(at);
    let article = matches!(word, "the" | "this" | "all");
    let next = if at + 1 < end { cursor.word_at(at + 1) } else { "" };
    let remainder = article && (matches!(next, "rest" | "others" | "other") || words::end(next).is_some());
    let selects = (at..end).any(|at| doubts::is_selectable(cursor.word_at(at)));
    doubts::begins_another(word) || remainder || selects
}

impl Topic {
    /// The text, without its quotes if it has any.
    pub fn text(self, cursor: &Cursor<'_>) -> String {
        match cursor.token(self.from).filter(|_| self.is_quoted(cursor)) {
            Some(quoted) => quoted.text.to_owned(),
            None => cursor.slice(self.from, self.to).to_owned(),
        }
    }

    /// Whether it is a text in quotes.
    pub fn is_quoted(self, cursor: &Cursor<'_>) -> bool {
        self.to - self.from == 1 && cursor.token(self.from).is_some_and(|token| token.kind == Kind::Quoted)
    }

    /// Whether its beginning is marked.
    fn is_marked(self, cursor: &Cursor<'_>) -> bool {
        self.introduced || self.is_quoted(cursor) || DETERMINERS.contains(&cursor.word_at(self.from))
    }

    fn stands(self, cursor: &Cursor<'_>, end: usize) -> bool {
        if self.introduced || self.is_quoted(cursor) {
            return self.from < self.to;
        }
        let length = self.to - self.from;
        let short = length <= BARE_WORDS || length <= MAX_NAME_WORDS && self.is_name(cursor);
        let fits = short || DETERMINERS.contains(&cursor.word_at(self.from));
        length > 0 && fits && self.is_words(cursor) && !self.is_another(cursor, end)
    }

    fn is_name(self, cursor: &Cursor<'_>) -> bool {
        let capital = |at| cursor.token(at).is_some_and(|token| token.text.starts_with(char::is_uppercase));
        (self.from..self.to).all(capital)
    }

    fn is_words(self, cursor: &Cursor<'_>) -> bool {
        (self.from..self.to).all(|at| cursor.token(at).is_some_and(|token| token.kind == Kind::Word))
    }

    /// Whether it is the beginning of another instruction rather than a topic.
    fn is_another(self, cursor: &Cursor<'_>, end: usize) -> bool {
        let next = cursor.word_at(self.from + 1);
        match cursor.word_at(self.from) {
            "my" | "your" => {
                words::noun(next).is_some() || words::end(next).is_some() || words::role(next).is_some()
            }
            _ => begins_another(cursor, self.from, self.to.min(end)),
        }
    }

    fn has_preposition(self, cursor: &Cursor<'_>) -> bool {
        (self.from..self.to).any(|at| PREPOSITIONS.contains(&cursor.word_at(at)))
    }
}
