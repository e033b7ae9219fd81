//! How much a reader misses each item, before what is told beside it is considered.

use rustc_hash::FxHashMap;

use crate::{
    item::{Item, Kind, Marks},
    numbers::power,
    read::{concepts, hash},
};

/// What the caller asks for is worth this much more.
const FOCUS: f64 = 8.0;
/// How likely a value of an object is needed that nobody named.
const UNNAMED: f64 = 0.05;
/// How much more than the first deed the newest is worth.
const NEWEST: f64 = 256.0;
/// How much less each further value of an object is worth, and each further statement of one form.
const FURTHER: f64 = 0.85;

/// The worth of each item, whatever is asked for.
pub fn weights(items: &[Item]) -> Vec<f64> {
    let weighing = Weighing::of(items);
    let mut told = FxHashMap::default();
    let mut weights = vec![0.0; items.len()];
    // the newest values of an object, and the newest statements of one form, first
    for (at, item) in items.iter().enumerate().rev() {
        weights[at] = weighing.worth(item, &mut told);
    }
    weights
}

/// What the caller asks for: the words of each matter.
#[derive(Default)]
pub struct Focus(Vec<Vec<u64>>);

impl Focus {
    /// The focus on these matters.
    pub fn of(matters: &[String]) -> Self {
        Self(matters.iter().map(|matter| concepts(matter)).filter(|words| !words.is_empty()).collect())
    }

    /// How much more an item is worth for what is asked for.
    pub fn factor(&self, item: &Item) -> f64 {
        let share = self.share(item);
        1.0 + FOCUS * share * share
    }

    /// The share of the words of a matter that an item has, of the matter of which it has most.
    fn share(&self, item: &Item) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let around = concepts(&format!("{} {}", item.head, item.note));
        let has = |word: &u64| item.concepts().contains(word) || around.contains(word);
        let share =
            |words: &Vec<u64>| words.iter().filter(|word| has(word)).count() as f64 / words.len() as f64;
        self.0.iter().map(share).fold(0.0, f64::max)
    }

    /// Whether an item is about a matter: it has more than half of its words.
    pub fn is_on(&self, item: &Item) -> bool {
        self.share(item) > 0.5
    }
}

struct Weighing<'a> {
    first: u64,
    now: u64,
    /// How likely each name is needed again.
    named: FxHashMap<&'a str, f64>,
}

impl<'a> Weighing<'a> {
    fn of(items: &'a [Item]) -> Self {
        let now = items.iter().map(|item| item.sequence).max().unwrap_or(0);
        let first =
            items.iter().map(|item| item.sequence).filter(|sequence| *sequence > 0).min().unwrap_or(0);
        let named =
            items.iter().filter_map(|item| Some((&*item.text, item.seen?.probability(now)))).collect();
        Self { first, now, named }
    }

    fn worth(&self, item: &'a Item, told: &mut FxHashMap<u64, i32>) -> f64 {
        let place =
            (item.sequence.saturating_sub(self.first) + 1) as f64 / (self.now - self.first + 1) as f64;
        match (item.kind, &item.seen) {
            (Kind::Fact, Some(seen)) => seen.probability(self.now),
            (Kind::Fact, None) => self.value(item, told),
            (Kind::Said, _) if item.marks.has(Marks::PERSON) => item.worth(),
            (Kind::Said, _) => item.worth() * (0.8 + 0.5 * place) * further(item.statement(), told),
            (Kind::Check, _) if item.marks.has(Marks::TESTS) => item.worth() * NEWEST,
            // newest first
            (Kind::Did | Kind::Step | Kind::Check | Kind::Error, _) => item.worth() * power(NEWEST, place),
            _ => item.worth(),
        }
    }

    /// A value is needed as its object is or as it is itself, and less if others of the object are.
    fn value(&self, item: &'a Item, told: &mut FxHashMap<u64, i32>) -> f64 {
        let named = |name: &str| self.named.get(name).copied().unwrap_or_default();
        let needed = named(&item.head).max(UNNAMED) / 2.0 + named(&item.text);
        needed * item.worth() * further(hash(&item.head), told)
    }
}

/// How much less something is worth behind others like it.
fn further(like: u64, told: &mut FxHashMap<u64, i32>) -> f64 {
    let before = told.entry(like).or_default();
    *before += 1;
    FURTHER.powi(*before - 1)
}
