//! The chosen lines: consecutive sentences of one utterance share a line.

use std::collections::BTreeMap;

use crate::{
    TokenCounter,
    extractive::{
        LineKind, Sentence,
        people::talk::{self, Talk},
        text::clip::fitted,
    },
};

/// Sentences are joined into lines of at most this many bytes.
const LINE_BYTES: usize = 400;

/// The lines chosen so far.
pub(super) struct Told<'a> {
    talk: &'a Talk,
    counter: &'a dyn TokenCounter,
    /// By first sentence: the line's end, text and tokens.
    lines: BTreeMap<usize, Line>,
    /// By day of the talk, the tokens of its header; none if days are not told.
    headers: Vec<u32>,
    /// By day, whether something is told of it.
    is_headed: Vec<bool>,
}

struct Line {
    end: usize,
    text: String,
    tokens: u32,
}

/// A way to add a sentence.
pub(super) struct Way {
    start: usize,
    line: Line,
    /// The following line that it merges with, if any.
    joins: Option<usize>,
    /// The cost in tokens.
    pub cost: u32,
    /// Whether the sentence starts a line of its own.
    pub is_new: bool,
}

impl<'a> Told<'a> {
    pub(super) fn of(talk: &'a Talk, tells_days: bool, counter: &'a dyn TokenCounter) -> Self {
        let days = talk.days.iter().filter(|_| tells_days);
        let headers: Vec<u32> = days.map(|day| counter.count(&day.header())).collect();
        Self { talk, counter, lines: BTreeMap::new(), is_headed: vec![false; headers.len()], headers }
    }

    /// The tokens of the header that a sentence needs, if it is the first of its day.
    fn header(&self, sentence: usize) -> u32 {
        let day = self.talk.lines[sentence].day;
        self.headers.get(day).filter(|_| !self.is_headed[day]).copied().unwrap_or(0)
    }

    /// Whether a sentence would extend an existing line.
    pub(super) fn joins(&self, sentence: usize) -> bool {
        self.before(sentence).is_some() || self.behind(sentence).is_some()
    }

    /// How a sentence would be added, and at what cost.
    pub(super) fn way(&self, sentence: usize) -> Way {
        let mut way = match (self.before(sentence), self.behind(sentence)) {
            (Some((start, line)), _) => self.joined(start, sentence + 1, line.tokens, None),
            (None, Some(line)) => self.joined(sentence, line.end, line.tokens, Some(sentence + 1)),
            (None, None) => self.joined(sentence, sentence + 1, 0, None),
        };
        way.is_new = way.cost == way.line.tokens;
        way.cost += self.header(sentence);
        way
    }

    /// Adds a sentence.
    pub(super) fn tell(&mut self, way: Way) {
        if let Some(behind) = way.joins {
            self.lines.remove(&behind);
        }
        if let Some(is_headed) = self.is_headed.get_mut(self.talk.lines[way.start].day) {
            *is_headed = true;
        }
        self.lines.insert(way.start, way.line);
    }

    /// As much of a sentence as fits into `budget`, on a line of its own.
    pub(super) fn clipped(&self, sentence: usize, budget: u32) -> Option<Way> {
        let header = self.header(sentence);
        let room = budget.saturating_sub(header);
        let (text, tokens) = fitted(&self.opened(sentence), self.talk.words(sentence), room, self.counter)?;
        let line = Line { end: sentence + 1, text, tokens };
        Some(Way { start: sentence, line, joins: None, cost: tokens + header, is_new: true })
    }

    /// The lines, in the order said, below the header of their day; `weight` gets a line's first sentence and the end of its range.
    pub(super) fn sentences(self, weight: impl Fn(usize, usize) -> u32) -> Vec<Sentence> {
        let (mut told, mut last) = (Vec::new(), None);
        for (start, line) in self.lines {
            let talk::Line { sequence, day, .. } = self.talk.lines[start];
            if let Some(tokens) = self.headers.get(day).filter(|_| last != Some(day)) {
                told.push(self.talk.days[day].line(sequence, *tokens));
                last = Some(day);
            }
            let weight = weight(start, line.end);
            told.push(Sentence::plain(LineKind::Said, sequence, line.text.into(), weight, line.tokens));
        }
        told
    }

    /// The line that ends directly before a sentence of the same utterance.
    fn before(&self, sentence: usize) -> Option<(usize, &Line)> {
        let (start, line) = self.lines.range(..sentence).next_back()?;
        let follows = line.end == sentence && self.talk.follows(sentence);
        (follows && self.fits(line, sentence)).then_some((*start, line))
    }

    /// The line that starts directly after a sentence of the same utterance.
    fn behind(&self, sentence: usize) -> Option<&Line> {
        let line = self.lines.get(&(sentence + 1))?;
        (self.talk.follows(sentence + 1) && self.fits(line, sentence)).then_some(line)
    }

    fn fits(&self, line: &Line, sentence: usize) -> bool {
        let is_clipped = line.text.ends_with("…\n");
        !is_clipped && line.text.len() + self.talk.words(sentence).len() <= LINE_BYTES
    }

    fn joined(&self, start: usize, end: usize, before: u32, joins: Option<usize>) -> Way {
        let mut text = self.opened(start);
        for sentence in start..end {
            text.push_str(if sentence > start { " " } else { "" });
            text.push_str(self.talk.words(sentence));
        }
        text.push('\n');
        let tokens = self.counter.count(&text);
        let line = Line { end, text, tokens };
        Way { start, line, joins, cost: tokens.saturating_sub(before), is_new: false }
    }

    /// The name and the separator before the words.
    fn opened(&self, sentence: usize) -> String {
        let mut text = self.talk.name(self.talk.lines[sentence].speaker).to_owned();
        text.push_str(": ");
        text
    }
}
