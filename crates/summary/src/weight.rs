//! How much a reader misses each item, before what is told beside it is considered.

use rustc_hash::FxHashMap;

use crate::{
    item::{Item, Kind, Marks},
    numbers::power,
    words::concepts,
};

/// What the caller asks for is worth this much more.
const FOCUS: f64 = 3.0;
/// How likely a value of an object is needed that nobody named.
const UNNAMED: f64 = 0.05;
/// How much less each further value of an object is worth.
const FURTHER: f64 = 0.85;

/// The worth of each item.
pub fn weights(items: &[Item], focus: &[String]) -> Vec<f64> {
    let focus: Vec<u64> = focus.iter().flat_map(|focus| concepts(focus)).collect();
    let weighing = Weighing::of(items);
    let mut told = FxHashMap::default();
    let mut weights = vec![0.0; items.len()];
    // the newest values of an object first
    for (at, item) in items.iter().enumerate().rev() {
        let asked = !focus.is_empty() && concepts(&item.text).iter().any(|concept| focus.contains(concept));
        weights[at] = weighing.worth(item, &mut told) * if asked { FOCUS } else { 1.0 };
    }
    weights
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

    fn worth(&self, item: &'a Item, told: &mut FxHashMap<&'a str, i32>) -> f64 {
        let place =
            (item.sequence.saturating_sub(self.first) + 1) as f64 / (self.now - self.first + 1) as f64;
        match (item.kind, &item.seen) {
            (Kind::Fact, Some(seen)) => seen.probability(self.now),
            (Kind::Fact, None) => self.value(item, told) * (0.5 + 0.5 * place),
            (Kind::Goal, _) if item.marks.has(Marks::TITLE) => 3.0,
            (Kind::Goal, _) if item.marks.has(Marks::REQUEST) => 2.0,
            (Kind::Said, _) => item.worth() * (0.8 + 0.5 * place),
            // newest first
            (Kind::Did | Kind::Step | Kind::Check | Kind::Error, _) => item.worth() * power(2.0, 8.0 * place),
            _ => item.worth(),
        }
    }

    /// A value is needed as its object is or as it is itself, and less if others of the object are.
    fn value(&self, item: &'a Item, told: &mut FxHashMap<&'a str, i32>) -> f64 {
        let named = |name: &str| self.named.get(name).copied().unwrap_or_default();
        let rank = told.entry(&item.head).or_default();
        *rank += 1;
        let needed = named(&item.head).max(UNNAMED) / 2.0 + named(&item.text);
        needed * item.worth() * FURTHER.powi(*rank - 1)
    }
}
