//! The ledger: identifiers, amounts and dates that no chosen line mentions, grouped by who named them.

use std::{borrow::Cow, cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    TokenCounter,
    extractive::{
        naming::facts::exact,
        pool::{Fact, Page},
        sentence::{BETWEEN, BETWEEN_VALUES, LineKind, Part, Sentence},
        text::words::scan,
    },
};

/// Assumed bytes per token when entries are compared.
const TOKEN_BYTES: usize = 3;
/// The assumed cost of an entry on top of its text, in tokens, when entries are compared.
const ENTRY_TOKENS: usize = 3;
/// Divides the worth of a value that another object has too: the date of one more flight.
const AGAIN_DIVISOR: usize = 12;
/// The search ends after this many entries in a row that do not fit.
const MAX_MISSES: u32 = 24;

/// What the lines of a summary mention of the ledger's candidates: whether they do, by concept or name.
pub(in crate::extractive) struct Told(FxHashMap<u32, bool>);

impl Told {
    /// Nothing is mentioned yet.
    pub(in crate::extractive) fn nothing_of(facts: &[Fact]) -> Self {
        let concepts = facts.iter().flat_map(|fact| fact.concepts).filter(|concept| *concept != 0);
        Self(concepts.map(|concept| (concept, false)).collect())
    }

    /// Adds what a line mentions.
    pub(in crate::extractive) fn add(&mut self, line: &str) {
        if self.0.is_empty() {
            return;
        }
        let mut tell = |concept: u32| {
            if let Some(is_told) = self.0.get_mut(&concept) {
                *is_told = true;
            }
        };
        scan(line, |word| {
            tell(word.concept);
            tell(exact(word.of(line)));
        });
    }

    fn has(&self, concept: u32) -> bool {
        self.0.get(&concept).is_some_and(|is_told| *is_told)
    }

    fn holds(&self, fact: &Fact) -> bool {
        fact.concepts.iter().all(|concept| *concept == 0 || self.has(*concept))
    }
}

/// The lines of the facts most likely to be needed again for their length, at most `budget` tokens together;
/// facts already mentioned are left out.
pub(in crate::extractive) fn ledger(
    facts: &[Fact],
    pages: &[Page],
    told: &Told,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let mut ledger = Ledger {
        pages,
        told,
        counter,
        opened: vec![false; pages.len()],
        without_names: vec![false; pages.len()],
        named: FxHashSet::default(),
        values: FxHashSet::default(),
    };
    let untold: Vec<&Fact> = facts.iter().filter(|fact| !told.holds(fact)).collect();
    let mut taken = ledger.taken(&untold, budget);
    // the parts of an object behind its own facts; names first: they need no separator
    let order = |fact: &&Fact| {
        let part = pages[fact.page].within.map(|_| fact.page);
        (ledger.whole(fact.page), part, has_space(fact), fact.sequence)
    };
    taken.sort_by_key(order);
    let lines = taken.chunk_by(|one, next| ledger.whole(one.page) == ledger.whole(next.page));
    lines.map(|facts| ledger.line(facts)).collect()
}

fn has_space(fact: &Fact) -> bool {
    fact.text.contains(' ')
}

struct Ledger<'a> {
    pages: &'a [Page],
    told: &'a Told,
    counter: &'a dyn TokenCounter,
    opened: Vec<bool>,
    /// The opened lines that list no name yet, by page.
    without_names: Vec<bool>,
    /// What the heads of opened pages name.
    named: FxHashSet<[u32; 2]>,
    /// The values taken.
    values: FxHashSet<u32>,
}

impl<'a> Ledger<'a> {
    fn taken(&mut self, facts: &[&'a Fact], budget: u32) -> Vec<&'a Fact> {
        let mut by_page: Vec<Vec<usize>> = vec![Vec::new(); self.pages.len()];
        facts.iter().zip(0..).for_each(|(fact, at)| by_page[fact.page].push(at));
        let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
            facts.iter().zip(0..).map(|(fact, at)| (self.value(fact), Reverse(at))).collect();
        let mut was_taken = vec![false; facts.len()];
        let (mut left, mut misses) = (budget, 0);
        while let Some((value, Reverse(at))) = heap.pop() {
            let fact = facts[at];
            if was_taken[at] || self.named.contains(&fact.concepts) {
                continue;
            }
            let worth = self.value(fact);
            if worth < value {
                heap.push((worth, Reverse(at)));
                continue;
            }
            let cost = self.cost(fact);
            if cost > left {
                misses += 1;
                if misses == MAX_MISSES {
                    break;
                }
                continue;
            }
            (left, misses, was_taken[at]) = (left - cost, 0, true);
            self.values.insert(fact.concepts[0]);
            let line = self.whole(fact.page);
            let is_name = line == fact.page && !has_space(fact);
            self.without_names[line] = !is_name && (self.without_names[line] || !self.opened[line]);
            for page in [fact.page, line] {
                if !std::mem::replace(&mut self.opened[page], true) {
                    self.named.extend(self.pages[page].names);
                    // the page's other facts no longer pay for a head
                    let others = by_page[page].iter();
                    heap.extend(others.map(|other| (self.value(facts[*other]), Reverse(*other))));
                }
            }
        }
        facts.iter().zip(was_taken).filter_map(|(fact, taken)| taken.then_some(*fact)).collect()
    }

    /// The page in whose line a page is told.
    fn whole(&self, page: usize) -> usize {
        self.pages[page].within.unwrap_or(page)
    }

    /// The fact's worth relative to its length.
    fn value(&self, fact: &Fact) -> usize {
        let pages = [Some(fact.page), self.pages[fact.page].within];
        let closed = pages.into_iter().flatten().filter(|page| !self.opened[*page]);
        let heads: usize = closed.map(|page| self.pages[page].head.len() / TOKEN_BYTES).sum();
        let is_told = self.values.contains(&fact.concepts[0]) || self.told.has(fact.concepts[0]);
        let again = if is_told { AGAIN_DIVISOR } else { 1 };
        fact.worth as usize / again / (ENTRY_TOKENS + heads + fact.text.len() / TOKEN_BYTES)
    }

    /// The tokens that the fact adds.
    fn cost(&self, fact: &Fact) -> u32 {
        let Page { head, within, .. } = &self.pages[fact.page];
        let text = &fact.text;
        self.counter.count(&match (self.opened[fact.page], within.map(|whole| self.opened[whole])) {
            (true, Some(_)) => format!("{BETWEEN_VALUES}{text}"),
            // the first name stands before what opened the line, which then needs a separator
            (true, None) if has_space(fact) || self.without_names[fact.page] => format!("{BETWEEN}{text}"),
            (true, None) => format!(" {text}"),
            (false, Some(true)) => format!("{BETWEEN}{head} {text}"),
            (false, Some(false)) => format!("{} {head} {text}\n", self.pages[self.whole(fact.page)].head),
            (false, None) => format!("{head} {text}\n"),
        })
    }

    /// The line of facts about an object and its parts: `K1NW8N: cabin economy; HAT139 date 2024-05-23, price 851`.
    fn line(&self, facts: &[&Fact]) -> Sentence {
        let pages = facts.chunk_by(|one, next| one.page == next.page);
        let mut parts = Vec::with_capacity(facts.len());
        pages.for_each(|facts| self.list(facts, &mut parts));
        if parts.is_empty() {
            // a line that only says what belongs to what still names its object
            parts.push(part(facts[0], Cow::Borrowed(&facts[0].text)));
        }
        Sentence::listed(
            LineKind::Facts,
            &self.pages[self.whole(facts[0].page)].head,
            &parts,
            0,
            self.counter,
        )
    }

    /// Lists the facts of a page that no head names; together, if the page is a part of another.
    fn list<'f>(&self, facts: &[&'f Fact], parts: &mut Vec<Part<Cow<'f, str>>>) {
        let new = facts.iter().filter(|fact| !self.named.contains(&fact.concepts));
        let Page { head, within, .. } = &self.pages[facts[0].page];
        if within.is_none() {
            return parts.extend(new.map(|fact| part(fact, Cow::Borrowed(&fact.text))));
        }
        let values: Vec<&str> = new.map(|fact| &*fact.text).collect();
        let text = format!("{head} {}", values.join(BETWEEN_VALUES));
        let weight = facts.iter().map(|fact| fact.worth).max().unwrap_or(0);
        parts.push(Part { weight, ..part(facts[0], text.trim_end().to_owned().into()) });
    }
}

fn part<'f>(fact: &Fact, text: Cow<'f, str>) -> Part<Cow<'f, str>> {
    Part { sequence: fact.sequence, result: fact.result, text, weight: fact.worth }
}
