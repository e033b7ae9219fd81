//! A summary of items: each section takes at most its share, and what it leaves goes to others.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use utterd_text::clip;

use crate::{
    choose::{Candidate, Coverage, fill, length},
    item::{Item, Kind, Marks},
    read::{Read, hash},
    render::{Line, alone, is_quoted, lines, root},
    settle::{Part, settle},
    weight::{Focus, weights},
};

/// Counts the tokens of a text.
pub type Count<'a> = &'a dyn Fn(&str) -> u32;

/// A section, its share of the budget in percent, and the least tokens of its share, but at most half of the budget.
struct Section {
    kind: Kind,
    marks: Marks,
    percent: u32,
    least: u32,
}

/// In the order in which they are filled.
const SECTIONS: [Section; 8] = [
    Section { kind: Kind::Goal, marks: Marks(0), percent: 18, least: 40 },
    Section { kind: Kind::Open, marks: Marks(0), percent: 18, least: 0 },
    Section { kind: Kind::Check, marks: Marks(0), percent: 8, least: 0 },
    Section { kind: Kind::Error, marks: Marks(0), percent: 8, least: 0 },
    Section { kind: Kind::Did, marks: Marks(0), percent: 20, least: 0 },
    Section { kind: Kind::Step, marks: Marks(0), percent: 7, least: 0 },
    Section { kind: Kind::Said, marks: Marks::USER, percent: 25, least: 40 },
    Section { kind: Kind::Said, marks: Marks(0), percent: 8, least: 0 },
];
/// One sentence takes at most this many percent of the budget, but always `LEAST_SENTENCE`.
const SENTENCE_PERCENT: u32 = 14;
const LEAST_SENTENCE: u32 = 60;
/// Facts take at most this many percent of the budget before what else was said is told, but always `LEAST_FACTS`.
const FACTS_PERCENT: u32 = 25;
const LEAST_FACTS: u32 = 700;
/// A deed, a check, an error: as much.
const DEED_TOKENS: u32 = 44;
/// A remainder below is left unused.
const LEAST_REST: u32 = 6;
/// Of a value that is told already, the worth of saying whose it is as well.
const OF_WHICH: f64 = 0.3;

/// What a summary is wanted for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The most tokens.
    pub budget: u32,
    /// What the items are of.
    pub part: Part,
    /// What is asked for.
    pub focus: Vec<String>,
}

/// A summary.
#[derive(Debug, Default)]
pub struct Summary {
    /// The items that hold, oldest first.
    pub items: Vec<Item>,
    /// The places of those that are told.
    pub told: Vec<usize>,
    /// The lines that tell them.
    pub lines: Vec<Line>,
    /// The tokens of the lines.
    pub tokens: u32,
    /// The items, as they could be chosen.
    candidates: Vec<Candidate>,
    /// Those that are told in part, as they were before.
    whole: FxHashMap<usize, Item>,
}

impl Summary {
    /// The items of `given`, from which this was made, that another summary may still need, in about `room` tokens: those
    /// that are told, then those that are worth most. Oldest first.
    pub fn kept(&self, given: &[Item], room: u32, count: Count<'_>) -> Vec<Item> {
        let mut kept = vec![false; self.items.len()];
        self.told.iter().for_each(|at| kept[*at] = true);
        let tokens: Vec<u32> = self.items.iter().map(|item| cost(item, None, count)).collect();
        let told: u32 = self.told.iter().map(|at| tokens[*at]).sum();
        let gain = |(candidate, tokens): (&Candidate, &u32)| candidate.worth / length(*tokens);
        let gain: Vec<f64> = self.candidates.iter().zip(&tokens).map(gain).collect();
        let mut others: Vec<usize> = (0..kept.len()).filter(|at| !kept[*at]).collect();
        others.sort_by(|a, b| gain[*b].total_cmp(&gain[*a]).then(a.cmp(b)));
        let mut left = room.saturating_sub(told);
        for at in others {
            kept[at] = tokens[at] <= left;
            left -= if kept[at] { tokens[at] } else { 0 };
        }
        let whole = self.items.iter().enumerate().map(|(at, item)| self.whole.get(&at).unwrap_or(item));
        let (kept, dropped): (Vec<_>, Vec<_>) = whole.zip(kept).partition(|(_, kept)| *kept);
        let deeds = dropped.iter().map(|(item, _)| item.deeds()).sum();
        let counted = (deeds > 0).then(|| Item::counted(deeds));
        let unsettled = kept.iter().filter_map(|(item, _)| Some(item.unsettled(given.get(item.given)?)));
        counted.into_iter().chain(unsettled).collect()
    }

    /// The lines, one after another.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect()
    }
}

/// The summary of `items`.
pub fn summarise(mut items: Vec<Item>, wanted: &Wanted, count: Count<'_>) -> Summary {
    items.iter_mut().enumerate().for_each(|(at, item)| item.given = at);
    let items = settle(items, wanted.part);
    let focus = Focus::of(&wanted.focus);
    let mut composing = Composing::new(items, wanted, &focus, count);
    composing.fill_focus(&focus);
    SECTIONS.iter().for_each(|section| composing.fill_section(section));
    composing.fill_rest();
    composing.finish()
}

struct Composing<'a> {
    items: Vec<Item>,
    candidates: Vec<Candidate>,
    wanted: &'a Wanted,
    count: Count<'a>,
    root: Option<String>,
    told: Coverage,
    /// Nobody calls a tool.
    is_talk: bool,
    chosen: Vec<usize>,
    /// Items that were cut for their section's share, as they were before.
    whole: FxHashMap<usize, Item>,
    left: u32,
    /// What was written last, and how many of the chosen items it tells.
    lines: Vec<Line>,
    written: Option<usize>,
}

impl<'a> Composing<'a> {
    fn new(mut items: Vec<Item>, wanted: &'a Wanted, focus: &Focus, count: Count<'a>) -> Self {
        let most = part_of(wanted.budget, SENTENCE_PERCENT).max(LEAST_SENTENCE);
        for item in &mut items {
            // what it is may have changed since it was counted
            let form = item.form();
            item.read.count_as(form);
            if item.kind == Kind::Quoted || item.seen.is_some() {
                continue;
            }
            let most = if is_spoken(item) { most } else { DEED_TOKENS };
            shorten(item, most.min(wanted.budget), count);
        }
        let root = root(&items);
        let mut things: FxHashMap<u64, usize> = FxHashMap::default();
        things.reserve(4 * items.len());
        let mut number = |thing: u64| {
            let next = things.len();
            *things.entry(thing).or_insert(next)
        };
        let candidate = |(item, worth): (&Item, f64)| {
            let tokens = cost(item, root.as_deref(), count);
            Candidate {
                tokens,
                length: length(tokens),
                tells: tells(item).into_iter().map(&mut number).collect(),
                worth,
                asked: focus.factor(item),
                speaker: item.marks.has(Marks::PERSON).then(|| number(hash(&item.head))),
                least: beside_words(item),
                is_taken: false,
            }
        };
        let candidates: Vec<Candidate> = items.iter().zip(weights(&items)).map(candidate).collect();
        let is_talk = is_talk(&items);
        let mut told = Coverage::new(things.len());
        if is_talk {
            let said = items.iter().zip(&candidates).filter(|(item, _)| is_spoken(item));
            told.weigh(said.map(|(_, candidate)| &candidate.tells));
        }
        let (chosen, whole, left) = (Vec::new(), FxHashMap::default(), wanted.budget);
        let (lines, written) = (Vec::new(), None);
        Self { items, candidates, wanted, count, root, told, is_talk, chosen, whole, left, lines, written }
    }

    /// The places of items that can be told one by one.
    fn places(&self, is: impl Fn(&Item) -> bool) -> Vec<usize> {
        let is = |item: &Item| !item.marks.has(Marks::COUNTED) && is(item);
        (0..self.items.len()).filter(|at| is(&self.items[*at])).collect()
    }

    /// What the caller asks for comes first, in half of the budget.
    fn fill_focus(&mut self, focus: &Focus) {
        self.fill(&self.places(|item| focus.is_on(item)), self.wanted.budget / 2);
    }

    fn fill_section(&mut self, section: &Section) {
        // where nobody acts, all that was said competes for what is left
        if self.is_talk && section.kind == Kind::Said {
            return;
        }
        let least = section.least.min(self.wanted.budget / 2);
        let room = part_of(self.wanted.budget, section.percent).max(least).min(self.left);
        let left = self.left - room;
        // what the goal left out is the user's as well, and what the checks left out may have failed
        let is_rest = |item: &Item| {
            matches!((section.kind, item.kind), (Kind::Said, Kind::Goal) | (Kind::Error, Kind::Check))
        };
        let is_of =
            |item: &Item| (item.kind == section.kind || is_rest(item)) && item.marks.has(section.marks);
        let places = self.places(is_of);
        // what came last comes first, and what a section is for is told in part if it does not fit as a whole
        if matches!(section.kind, Kind::Open | Kind::Check | Kind::Error) {
            self.fill_best(&places, room);
        }
        // what holds from now on is missed at each later step, so shorter sentences do not displace it
        let standing = places.iter().copied().filter(|at| self.items[*at].marks.has(Marks::CONSTRAINT));
        self.fill(&standing.collect::<Vec<_>>(), self.left - left);
        self.fill(&places, self.left - left);
        if section.kind == Kind::Goal && !self.chosen.iter().any(|at| is_of(&self.items[*at])) {
            self.fill_best(&places, self.left - left);
        }
    }

    fn fill_best(&mut self, places: &[usize], room: u32) {
        let free = places.iter().copied().filter(|at| !self.candidates[*at].is_taken);
        let wanted = |at: usize| self.candidates[at].wanted();
        let best = free.max_by(|a, b| wanted(*a).total_cmp(&wanted(*b)).then(b.cmp(a)));
        let Some(at) = best.filter(|_| room > LEAST_REST) else { return };
        if self.candidates[at].tokens > room {
            self.whole.insert(at, self.items[at].clone());
            self.clip(at, room);
        }
        self.fill(&[at], room);
        // too little of it would be left
        if let Some(whole) = self.whole.get(&at).filter(|_| !self.candidates[at].is_taken) {
            self.items[at] = whole.clone();
            self.measure(at);
        }
    }

    /// Cuts an item down to `room` tokens: the longer of its two parts first, and then the other; which check it was says
    /// more than how it ended.
    fn clip(&mut self, at: usize, room: u32) {
        self.measure(at);
        let item = &self.items[at];
        let note_first = item.kind == Kind::Check || item.note.len() > item.text.len();
        for cuts_note in [note_first, !note_first] {
            let over = self.candidates[at].tokens.saturating_sub(room);
            if over == 0 {
                return;
            }
            let item = &mut self.items[at];
            let longer = if cuts_note { &mut item.note } else { &mut item.text };
            let most = (self.count)(longer).saturating_sub(over).max(LEAST_REST);
            let clipped = clip(longer, most, self.count);
            // what is all cut says nothing
            *longer = Arc::from(if clipped == "…" { "" } else { &*clipped });
            item.read = Read::default();
            self.measure(at);
        }
    }

    /// The tokens of an item that was changed.
    fn measure(&mut self, at: usize) {
        let tokens = cost(&self.items[at], self.root.as_deref(), self.count);
        (self.candidates[at].tokens, self.candidates[at].length) = (tokens, length(tokens));
    }

    /// What was cut for its section's share takes what the sections left.
    fn restore(&mut self) {
        self.left = self.wanted.budget.saturating_sub(self.write());
        for at in self.chosen.clone() {
            let Some(whole) = self.whole.get(&at).filter(|_| self.left >= LEAST_REST) else { continue };
            let before = self.candidates[at].tokens;
            self.items[at] = whole.clone();
            self.clip(at, before + self.left);
            self.left = (self.left + before).saturating_sub(self.candidates[at].tokens);
            self.written = None;
        }
    }

    fn fill(&mut self, places: &[usize], room: u32) {
        let (chosen, used) = fill(&mut self.candidates, places, &mut self.told, room);
        self.left -= used;
        self.chosen.extend(chosen);
    }

    /// Facts first, except where people only talk, then more of what was said; again, since the tokens of lines were estimated.
    fn fill_rest(&mut self) {
        let facts = self.places(|item| item.kind == Kind::Fact);
        let said = self.places(|item| matches!(item.kind, Kind::Said | Kind::Goal | Kind::Quoted));
        let done = self.places(|item| matches!(item.kind, Kind::Did | Kind::Error));
        let most_facts = part_of(self.wanted.budget, FACTS_PERCENT).max(LEAST_FACTS);
        self.restore();
        for _ in 0..3 {
            self.left = self.wanted.budget.saturating_sub(self.write());
            if self.left < LEAST_REST {
                return;
            }
            let before = self.chosen.len();
            if self.is_talk {
                self.fill(&said, self.left);
            }
            self.fill(&done, self.left);
            self.fill(&facts, self.left.min(most_facts));
            self.fill(&said, self.left);
            self.fill(&facts, self.left);
            if self.chosen.len() == before {
                return;
            }
        }
    }

    /// Writes the lines of what is chosen; returns their tokens. Only lines that changed are counted again.
    fn write(&mut self) -> u32 {
        if self.written != Some(self.chosen.len()) {
            let mut lines = lines(&self.items, &self.chosen, self.root.as_deref());
            for line in &mut lines {
                let known = self.lines.iter().find(|known| known.text == line.text);
                line.tokens = known.map_or_else(|| (self.count)(&line.text), |known| known.tokens);
            }
            (self.lines, self.written) = (lines, Some(self.chosen.len()));
        }
        self.lines.iter().map(|line| line.tokens).sum()
    }

    fn finish(mut self) -> Summary {
        let mut tokens = self.write();
        // what was chosen last is worth least
        while tokens > self.wanted.budget && self.chosen.pop().is_some() {
            tokens = self.write();
        }
        if tokens > self.wanted.budget {
            (self.lines, tokens) = (Vec::new(), 0);
        }
        self.chosen.sort_unstable();
        let Self { items, chosen: told, whole, lines, candidates, .. } = self;
        Summary { items, told, lines, tokens, candidates, whole }
    }
}

/// Whether nobody calls a tool.
fn is_talk(items: &[Item]) -> bool {
    let calls = |item: &Item| item.seen.is_none_or(|seen| seen.calls + seen.results > 0);
    !items.iter().any(|item| match item.kind {
        Kind::Did | Kind::Check | Kind::Error => true,
        Kind::Fact => calls(item),
        _ => false,
    })
}

/// What an item says beside its words: which of what was told holds; of which thing a value is.
fn beside_words(item: &Item) -> f64 {
    let which = Marks::CONSTRAINT.with(Marks::CORRECTION).with(Marks::DECISION).with(Marks::ANSWER);
    match item.kind {
        _ if item.marks.has(Marks::PERSON) => 0.0,
        _ if item.marks.has_any(which) => 2.0,
        Kind::Fact if item.is_value() => OF_WHICH,
        Kind::Said | Kind::Fact | Kind::Step => 0.0,
        _ => 2.0,
    }
}

fn is_spoken(item: &Item) -> bool {
    matches!(item.kind, Kind::Said | Kind::Goal | Kind::Open)
}

/// What an item tells: its words, or its value.
fn tells(item: &Item) -> Vec<u64> {
    let mut tells = match item.kind {
        Kind::Fact => vec![hash(&item.text)],
        Kind::Did => vec![hash(&item.text), hash(&item.head)],
        _ => item.concepts().iter().copied().chain(item.named().map(|(_, value)| hash(value))).collect(),
    };
    tells.sort_unstable();
    tells.dedup();
    tells
}

/// So many percent of a budget, which can be as large as there are numbers for.
fn part_of(budget: u32, percent: u32) -> u32 {
    (u64::from(budget) * u64::from(percent) / 100) as u32
}

/// The tokens that an item adds to a summary, nearly.
fn cost(item: &Item, root: Option<&str>, count: Count<'_>) -> u32 {
    let tokens = item.read.tokens(item.form(), || count(&alone(item)));
    match root.filter(|root| !is_quoted(item) && item.text.contains(root)) {
        Some(root) => tokens - tokens * root.len() as u32 / (item.text.len() as u32 + 1),
        None => tokens,
    }
}

fn shorten(item: &mut Item, most: u32, count: Count<'_>) {
    // a token rarely has less than a byte, and a part rarely more tokens than the whole
    let longest = item.text.len().max(item.note.len());
    if longest <= most as usize || cost(item, None, count) <= most {
        return;
    }
    let shorter = |text: &str| {
        Some(clip(text, most, count)).filter(|shorter| shorter.len() < text.len()).map(Arc::from)
    };
    if let Some(note) = shorter(&item.note) {
        item.note = note;
    }
    if let Some(text) = shorter(&item.text) {
        item.say(text);
    }
}
