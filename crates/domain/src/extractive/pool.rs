//! The candidates for a summary, taken from what was said or from earlier lines.

use std::cell::Cell;

use rustc_hash::FxHashMap;

use crate::{
    Sequence, TokenCounter,
    extractive::{
        choose::{Voice, Worth},
        day::Days,
        naming::facts::{exact, find, first},
        progress::matter::{self, ASKED, Matter, USER},
        sentence::{
            BETWEEN_VALUES, CHECK, ERROR, GOAL, Item, LineKind, Part, SOLVED, STEPS, Sentence, caller,
        },
        spoken::Spoken,
        text::{cues::Cues, words::IDENTIFIER},
    },
};

/// Everything that can go into a summary.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// What the conversation is for; the heavier, the rather it is told.
    pub goal: Vec<Part>,
    /// What the changes were for.
    pub steps: Vec<Part>,
    /// Checks and failures, in order.
    pub checks: Vec<Check>,
    pub acts: Vec<Act>,
    /// How many more acts were made than are listed, by head.
    pub acts_left_out: FxHashMap<Box<str>, usize>,
    pub saids: Vec<Said>,
    pub pages: Vec<Page>,
    pub facts: Vec<Fact>,
    pub matters: Vec<Matter>,
    /// On which days the sentences were said.
    pub days: Days,
    /// The place of each fact, once earlier lines have been added.
    known: FxHashMap<[u32; 2], usize>,
}

/// A line with a sentence, or with a call that changed nothing.
#[derive(Debug)]
pub(super) struct Said {
    pub sequence: Sequence,
    /// Of a call, its result.
    pub result: Option<Sequence>,
    /// The whole line.
    pub text: Box<str>,
    /// Where the speaker's part ends and the words start, in bytes.
    pub start: usize,
    pub voice: Voice,
    pub worth: Worth,
    /// What its words show; of an earlier line, nothing.
    pub cues: Cues,
    /// The tokens of the whole line, once counted.
    pub tokens: Cell<Option<u32>>,
}

/// A test or build, or a call that failed.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub sequence: Sequence,
    pub result: Option<Sequence>,
    /// `Check:` or `Error:`.
    pub head: &'static str,
    pub text: Box<str>,
    /// Whether a later call succeeded in its place.
    pub solved: bool,
    /// Whether it is a test or a build.
    pub is_test: bool,
    pub failed: bool,
}

/// A call that changed something or tried to.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub sequence: Sequence,
    pub result: Option<Sequence>,
    /// The whole line; `None` if an earlier summary had shortened it.
    pub text: Option<Box<str>>,
    /// `Assistant called cancel`.
    pub head: Box<str>,
    /// The identifying argument.
    pub key: Box<str>,
    pub failed: bool,
    /// Whether it changed a file, or ran a command.
    pub is_of_file: bool,
}

/// A ledger line that can be opened.
#[derive(Debug)]
pub(super) struct Page {
    /// `User mentioned:`, `get_order(W123):`.
    pub head: Box<str>,
    /// What the head itself names.
    pub names: Option<[u32; 2]>,
    /// The page of the object that this one is a part of, in whose line it is told.
    pub within: Option<usize>,
}

/// A candidate for the ledger.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub page: usize,
    pub sequence: Sequence,
    /// The result that contains it, if no earlier utterance names it.
    pub result: Option<Sequence>,
    pub text: Box<str>,
    /// The value, and its label or 0.
    pub concepts: [u32; 2],
    /// How likely the fact is to be needed.
    pub worth: u32,
}

impl Act {
    /// Takes a line such as `Assistant called cancel(LU15PA, …) → ok`, with its arguments at `start`.
    pub(super) fn new(sequence: Sequence, text: String, start: usize, key: &str) -> Self {
        let head = text[..start - 1].into();
        Self {
            sequence,
            result: None,
            head,
            text: Some(text.into()),
            key: key.into(),
            failed: false,
            is_of_file: false,
        }
    }
}

/// Follows the name in the head of a page for what a participant said.
pub(super) const MENTIONED: &str = " mentioned:";
/// The head of the page for what was named in passing.
pub(super) const NAMED: &str = "Named:";
/// The head of the page for the directory that paths are relative to.
pub(super) const ROOT: &str = "Root:";
/// With each fold, a fact loses one part in this many of its worth.
const AGES_BY: u32 = 10;

impl Pool {
    /// The pool of lines written earlier.
    pub(super) fn of(lines: &[Sentence]) -> Self {
        let mut pool = Self::default();
        lines.iter().for_each(|line| pool.add(line));
        pool
    }

    /// Adds a line written earlier.
    pub(super) fn add(&mut self, line: &Sentence) {
        match line.kind {
            LineKind::Act => self.add_act(line),
            LineKind::Facts => self.add_facts(line),
            LineKind::Open => {
                let matter = |part: Part| Matter {
                    sequence: part.sequence,
                    result: part.result,
                    rank: matter::rank(&part.text),
                    text: part.text,
                };
                self.matters.extend(line.parts().map(matter));
                self.saids.extend(line.parts().filter_map(|part| said(&part)));
            }
            LineKind::Said if line.head() == GOAL && self.goal.is_empty() => self.goal.extend(line.parts()),
            LineKind::Said if line.head() == STEPS => self.steps.extend(line.parts()),
            LineKind::Said if !line.items.is_empty() => {
                let head = if line.head() == GOAL { "User:" } else { line.head() };
                self.saids.extend(line.parts().map(|part| Said {
                    sequence: part.sequence,
                    result: part.result,
                    text: format!("{head} {}\n", part.text).into(),
                    start: head.len() + 1,
                    voice: voice(head),
                    worth: Worth::Known(part.weight),
                    cues: Cues::default(),
                    tokens: Cell::default(),
                }));
            }
            LineKind::Said if line.is_day() => self.days.add(line.clone()),
            LineKind::Said if self.add_check(line) => {}
            LineKind::Said => {
                let start = line.text.len() - Spoken::of(&line.text).said.len();
                let (sequence, result, text) = (line.sequence, line.result, line.text.clone());
                let cues = Cues::default();
                let (voice, worth, tokens) =
                    (voice(&text), Worth::Known(line.weight), Cell::new(Some(line.tokens)));
                self.saids.push(Said { sequence, result, text, start, voice, worth, cues, tokens });
            }
        }
    }

    /// Adds a line about a check or an error; returns whether it is one.
    fn add_check(&mut self, line: &Sentence) -> bool {
        let head = [CHECK, ERROR].into_iter().find(|head| line.text.starts_with(head));
        self.checks.extend(head.map(|head| {
            let text = line.text[head.len()..].trim();
            let solved = text.strip_prefix(SOLVED);
            Check {
                sequence: line.sequence,
                result: line.result,
                head,
                text: solved.unwrap_or(text).into(),
                solved: solved.is_some(),
                is_test: true,
                failed: head == ERROR || text.contains("→ error"),
            }
        }));
        head.is_some()
    }

    /// Leaves out the lines on where things stand, for which a small budget has no room.
    pub(super) fn only_said(&mut self) {
        (self.goal, self.steps, self.checks, self.matters) = Default::default();
    }

    fn add_act(&mut self, line: &Sentence) {
        match caller(line.head()) {
            Some(head) => {
                if line.left_out() > 0 {
                    let left_out = self.acts_left_out.entry(head.as_str().into()).or_default();
                    *left_out = left_out.saturating_add(line.left_out());
                }
                self.acts.extend(line.parts().map(|part| Act {
                    sequence: part.sequence,
                    result: part.result,
                    text: None,
                    head: head.as_str().into(),
                    key: part.text,
                    failed: false,
                    is_of_file: true,
                }));
            }
            None => {
                let item = line.items.first();
                let key = item.map_or("", |key| line.item(key));
                let head = line.head();
                self.acts.push(Act {
                    sequence: line.sequence,
                    result: item.and_then(|item| item.result),
                    text: Some(line.text.clone()),
                    head: head.strip_suffix('(').unwrap_or(head).into(),
                    key: key.into(),
                    failed: !line.text.contains(") → ok"),
                    is_of_file: false,
                });
            }
        }
    }

    fn add_facts(&mut self, line: &Sentence) {
        let head = line.head();
        let known = self.pages.iter().position(|page| &*page.head == head);
        let page = known.unwrap_or_else(|| {
            let mut names = None;
            find(head, |found| names = Some(found.concepts));
            self.pages.push(Page { head: head.into(), names, within: None });
            self.pages.len() - 1
        });
        for Part { sequence, result, text, weight } in line.parts() {
            let concepts = self.concepts(page, &text);
            let worth = weight - weight / AGES_BY;
            self.add_fact(Fact { page, sequence, result, text, concepts, worth });
        }
    }

    /// The concepts of an item of a page, as those of the values that the item was written from.
    fn concepts(&self, page: usize, text: &str) -> [u32; 2] {
        let found = first(text);
        let Some([object, _]) = self.pages[page].names.filter(|_| text.contains(' ')) else {
            return found.map_or_else(|| [exact(text), 0], |fact| fact.concepts);
        };
        let is_part = found.is_some_and(|fact| fact.at == 0 && fact.weight == IDENTIFIER);
        let value = match is_part || text.contains(BETWEEN_VALUES) {
            true => text,
            false => text.rsplit(' ').next().unwrap_or(text),
        };
        [exact(value), object]
    }

    /// Adds a fact; one found in several lines is kept once, with the sum of its worth.
    fn add_fact(&mut self, fact: Fact) {
        if self.known.len() != self.facts.len() {
            self.known = self.facts.iter().map(|fact| fact.concepts).zip(0..).collect();
        }
        match self.known.get(&fact.concepts).and_then(|at| self.facts.get_mut(*at)) {
            Some(known) => known.worth = known.worth.saturating_add(fact.worth),
            None => {
                self.known.insert(fact.concepts, self.facts.len());
                self.facts.push(fact);
            }
        }
    }
}

/// What was said of a matter: it stays when the matter is past.
fn said(part: &Part) -> Option<Said> {
    let (head, voice) = [(USER, Voice::User), (ASKED, Voice::Other)]
        .into_iter()
        .find(|(head, _)| part.text.starts_with(head))?;
    let speaker = if voice == Voice::User { USER } else { "Assistant: " };
    Some(Said {
        sequence: part.sequence,
        result: None,
        text: format!("{speaker}{}\n", &part.text[head.len()..]).into(),
        start: speaker.len(),
        voice,
        worth: Worth::Known(SAID_WEIGHT),
        cues: Cues::default(),
        tokens: Cell::default(),
    })
}

/// The weight of what was said of a matter.
const SAID_WEIGHT: u32 = 40;

/// Whose line it is, by its head.
fn voice(head: &str) -> Voice {
    if head.starts_with("User") { Voice::User } else { Voice::Other }
}

impl Said {
    /// Whether another sentence can follow on the same line.
    pub(super) fn is_sentence(&self) -> bool {
        const CLOSERS: [char; 6] = ['"', '\'', ')', '”', '’', '»'];
        const ENDS: [char; 10] = ['.', '!', '?', '…', '。', '！', '？', '؟', '।', '۔'];
        self.said().trim_end_matches(CLOSERS).ends_with(ENDS)
    }

    /// Whether it is a call, not a sentence.
    pub(super) fn is_call(&self) -> bool {
        !self.text[..self.start].ends_with(": ")
    }

    /// Whether both are sentences, not calls, of one utterance.
    pub(super) fn shares_utterance(&self, other: &Self) -> bool {
        self.utterance().is_some_and(|utterance| other.utterance() == Some(utterance))
    }

    /// The utterance and its speaker, if the line can be shared with other sentences of the utterance.
    pub(super) fn shared(&self) -> Option<(Sequence, &str)> {
        self.utterance().filter(|_| self.is_sentence())
    }

    /// The utterance and its speaker, if the line is not a call.
    fn utterance(&self) -> Option<(Sequence, &str)> {
        let is_said = self.sequence >= Sequence::FIRST && !self.is_call();
        is_said.then(|| (self.sequence, &self.text[..self.start]))
    }

    /// The tokens of the whole line.
    pub(super) fn count(&self, counter: &dyn TokenCounter) -> u32 {
        let tokens = self.tokens.get().unwrap_or_else(|| counter.count(&self.text));
        self.tokens.set(Some(tokens));
        tokens
    }

    pub(super) fn said(&self) -> &str {
        self.text[self.start..].trim_end()
    }
}

/// A line for a single call that changed something.
pub(super) fn line(act: &Act, text: &str, tokens: u32) -> Sentence {
    let start = act.head.len() + 1;
    let holds = !act.key.is_empty() && text.get(start..).is_some_and(|rest| rest.starts_with(&*act.key));
    let end = if holds { start + act.key.len() } else { start };
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let (start, end) = (place(start), place(end));
    let item = Item { sequence: act.sequence, result: act.result, start, end, weight: 0 };
    Sentence { items: [item].into(), ..Sentence::plain(LineKind::Act, act.sequence, text.into(), 0, tokens) }
}
