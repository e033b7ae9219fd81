//! The ledger: identifiers, amounts and dates that no chosen line mentions, grouped by who named them.

use std::{cmp::Reverse, collections::BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{
    TokenCounter,
    extractive::{
        naming::facts::exact,
        pool::{Fact, Page},
        sentence::{BETWEEN, LineKind, Part, Sentence},
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
pub(in crate::domain::extractive) struct Told(FxHashMap<u32, bool>);

impl Told {
    /// Nothing is mentioned yet.
    pub(in crate::domain::extractive) fn nothing_of(facts: &[Fact]) -> Self {
        let concepts = facts.iter().flat_map(|fact| fact.concepts).filter(|concept| *concept != 0);
        Self(concepts.map(|concept| (concept, false)).collect())
    }

    /// Adds what a line mentions.
    pub(in crate::domain::extractive) fn add(&mut self, line: &str) {
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
pub(in crate::domain::extractive) fn ledger(
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
        named: FxHashSet::default(),
        values: FxHashSet::default(),
    };
    let untold: Vec<&Fact> = facts.iter().filter(|fact| !told.holds(fact)).collect();
    let mut taken = ledger.taken(&untold, budget);
    // names first: they need no separator
    taken.sort_by_key(|fact| (fact.page, has_space(fact), fact.sequence));
    let pages_of = taken.chunk_by(|one, next| one.page == next.page);
    let told = |facts: &[&Fact]| {
        let new: Vec<&Fact> =
            facts.iter().copied().filter(|fact| !ledger.named.contains(&fact.concepts)).collect();
        // a line that only says what belongs to what still names its object
        ledger.line(if new.is_empty() { &facts[..1] } else { &new })
    };
    pages_of.map(told).collect()
}

fn has_space(fact: &Fact) -> bool {
    fact.text.contains(' ')
}

struct Ledger<'a> {
    pages: &'a [Page],
    told: &'a Told,
    counter: &'a dyn TokenCounter,
    opened: Vec<bool>,
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
            if !std::mem::replace(&mut self.opened[fact.page], true) {
                self.named.extend(self.pages[fact.page].names);
                // the page's other facts no longer pay for a head
                heap.extend(
                    by_page[fact.page].iter().map(|other| (self.value(facts[*other]), Reverse(*other))),
                );
            }
        }
        facts.iter().zip(was_taken).filter_map(|(fact, taken)| taken.then_some(*fact)).collect()
    }

    /// The fact's worth relative to its length.
    fn value(&self, fact: &Fact) -> usize {
        let head = if self.opened[fact.page] { 0 } else { self.pages[fact.page].head.len() / TOKEN_BYTES };
        let is_told = self.values.contains(&fact.concepts[0]) || self.told.has(fact.concepts[0]);
        let again = if is_told { AGAIN_DIVISOR } else { 1 };
        fact.worth as usize / again / (ENTRY_TOKENS + head + fact.text.len() / TOKEN_BYTES)
    }

    /// The tokens that the fact adds.
    fn cost(&self, fact: &Fact) -> u32 {
        self.counter.count(&match self.opened[fact.page] {
            true if has_space(fact) => format!("{BETWEEN}{}", fact.text),
            true => format!(" {}", fact.text),
            false => format!("{} {}\n", self.pages[fact.page].head, fact.text),
        })
    }

    fn line(&self, facts: &[&Fact]) -> Sentence {
        let part = |fact: &&Fact| Part {
            sequence: fact.sequence,
            result: fact.result,
            text: fact.text.clone(),
            weight: fact.worth,
        };
        let parts: Vec<Part> = facts.iter().map(part).collect();
        Sentence::listed(LineKind::Facts, &self.pages[facts[0].page].head, &parts, 0, self.counter)
    }
}
