//! The text to look for: all that is left of a sentence, except for a place or a time at its end.
//!
//! A text in quotes is looked for as it is. Without quotes, a word that could fill another slot is refused.

use std::ops::Range;

use crate::{
    forgetting::{canonical, table::turns},
    recall::terms,
};

use super::{
    slots::is_clock,
    words::{Token, Words},
};

/// The most words, marks and quoted texts in a topic.
const LONGEST: usize = 40;
/// The most places and times after a text.
const MOST_AFTER: usize = 4;
const MISSING: &str = "the text to look for is missing";
const LONG: &str = "the text to look for is long; put quotes around it";
const QUOTE: &str = "put quotes around the text to look for if this is part of it, or leave it out";
const NO_TOPIC: &str = "does not name a topic by itself; write the words to look for, in quotes if necessary";
const SEVERAL: &str = "several texts, or one? put quotes around each text to look for";
const EITHER: &str = "either, or both in the same utterance? write about:\"A\",\"B\" or mentioning A and B";

impl Words<'_> {
    /// Consumes a topic and what follows it. Two texts joined by "and" are looked for in the same utterance if the slot
    /// is `both`, and are refused if it is `single`.
    pub fn topic(&mut self, slot: &str) -> Option<String> {
        let start = self.at;
        let (end, after) = self.text_end();
        let texts = self.texts(start, end, slot)?;
        let texts: Vec<_> = texts.iter().map(|text| canonical::quoted(text)).collect();
        Some(format!("{after} about:{}", texts.join(",")))
    }

    /// The end of the text: where nothing but places and times follow. Consumes them, and returns their meaning.
    fn text_end(&mut self) -> (usize, String) {
        let start = self.at;
        let mut named = true;
        for at in (start + 1..self.end).take(LONGEST) {
            // "Paris yesterday" was said then; "the meeting yesterday" may have been then
            named &= self.tokens[at - 1].quoted || self.is_name(&self.tokens[at - 1]);
            self.at = at;
            if let Some(after) = self.attempt(|words| words.after(named)) {
                return (at, after);
            }
        }
        self.at = self.end;
        (self.end, String::new())
    }

    /// Consumes places, and also days if the text is a name: all that is left.
    fn after(&mut self, named: bool) -> Option<String> {
        let mut meanings = Vec::new();
        while !self.done() && meanings.len() < MOST_AFTER {
            let day = if named { self.fill("span") } else { None };
            meanings.push(day.or_else(|| self.fill("place"))?);
        }
        self.done().then(|| meanings.join(" "))
    }

    /// The texts between two positions.
    pub fn texts(&mut self, start: usize, end: usize, slot: &str) -> Option<Vec<String>> {
        if end - start > LONGEST {
            self.refuse(start, end, LONG, []);
            return None;
        }
        let (pieces, joints) = self.pieces(start, end);
        if !pieces.iter().all(|piece| self.is_topic(piece)) {
            return None;
        }
        let last = joints.last().copied();
        let even = last != Some(",") && joints.iter().all(|joint| *joint == "," || Some(*joint) == last);
        let why = match (slot, last) {
            (_, Some(_)) if !even || !self.stand(&pieces) => Some(SEVERAL),
            ("single", Some(_)) => Some(EITHER),
            _ => None,
        };
        if let Some(why) = why {
            self.refuse(start, end, why, []);
            return None;
        }
        let texts: Vec<_> = pieces.iter().map(|piece| self.text(piece).to_owned()).collect();
        Some(if slot == "both" && last == Some("and") { vec![texts.join(" ")] } else { texts })
    }

    /// The pieces between joints, and the joints.
    fn pieces(&self, start: usize, end: usize) -> (Vec<Range<usize>>, Vec<&'static str>) {
        let (mut pieces, mut joints, mut from, mut at) = (Vec::new(), Vec::new(), start, start);
        while at < end {
            match self.sense_at(at, "joint") {
                Some(joint) => {
                    pieces.push(from..at);
                    joints.push(joint.meaning);
                    at += joint.length;
                    from = at;
                }
                None => at += 1,
            }
        }
        pieces.push(from..end);
        (pieces, joints)
    }

    /// Whether each piece is a text of its own: in quotes, a name, or with an article; or each is a single word. What
    /// may depend on a link in an earlier piece is none.
    fn stand(&self, pieces: &[Range<usize>]) -> bool {
        let names = |piece: &Range<usize>| {
            self.tokens[piece.clone()].iter().all(|token| token.quoted || self.is_name(token))
        };
        let marked = |piece: &Range<usize>| self.sense_at(piece.start, "article").is_some() || names(piece);
        let links = |piece: &Range<usize>| piece.clone().any(|at| self.sense_at(at, "link").is_some());
        let single = pieces.iter().all(|piece| piece.len() == 1);
        (single || pieces.iter().all(marked)) && !pieces[..pieces.len() - 1].iter().any(links)
    }

    fn text(&self, piece: &Range<usize>) -> &str {
        match &self.tokens[piece.clone()] {
            [only] => only.text,
            _ => self.slice(piece.start, piece.end),
        }
    }

    /// Whether a piece can be looked for; notes why not.
    fn is_topic(&mut self, piece: &Range<usize>) -> bool {
        let tokens = &self.tokens[piece.clone()];
        let quoted = matches!(tokens, [only] if only.quoted);
        let ends =
            tokens.last().is_some_and(|last| last.text.contains(char::is_alphanumeric) && last.lower != "'s");
        let misplaced = tokens.iter().position(|token| !belongs(token)).or_else(|| (!ends).then_some(0));
        let text = self.text(piece).to_owned();
        let (from, to) = (piece.start, piece.end);
        match misplaced {
            _ if piece.is_empty() => self.refuse(from.saturating_sub(1), from, MISSING, []),
            Some(at) if !quoted => self.refuse(from + at, to, QUOTE, []),
            None if !quoted && !terms(&text).has_subject() => self.refuse(from, to, NO_TOPIC, []),
            _ => return true,
        }
        false
    }
}

/// Whether a token can be part of a topic without quotes.
fn belongs(token: &Token<'_>) -> bool {
    let of = |kinds: &[&str]| token.senses.iter().any(|sense| kinds.contains(&sense.kind));
    let known = token.senses.is_empty() || of(&["article", "link", "inner"]);
    let readable = token.text.contains(char::is_alphanumeric) || of(&["inner"]);
    known
        && readable
        && !token.quoted
        && !is_clock(token.text)
        && !of(&["turn-away", "but"])
        && !turns(&token.lower)
}
