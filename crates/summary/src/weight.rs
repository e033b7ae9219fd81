//! How much a reader misses each item, before what is told beside it is considered.

use rustc_hash::FxHashMap;
use utterd_text::{Kind as Shape, entities};

use crate::{
    item::{Item, Kind, Marks},
    numbers::{log2, power},
    words::concepts,
};

/// What the caller asks for is worth this much more.
const FOCUS: f64 = 3.0;
/// How likely a value of an object is needed that nobody named.
const UNNAMED: f64 = 0.05;
/// How much less each further value of an object is worth.
const FURTHER: f64 = 0.92;

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
    /// How many objects have a value.
    repeats: FxHashMap<(&'a str, &'a str), u32>,
}

impl<'a> Weighing<'a> {
    fn of(items: &'a [Item]) -> Self {
        let now = items.iter().map(|item| item.sequence).max().unwrap_or(0);
        let first =
            items.iter().map(|item| item.sequence).filter(|sequence| *sequence > 0).min().unwrap_or(0);
        let named =
            items.iter().filter_map(|item| Some((&*item.text, item.seen?.probability(now)))).collect();
        let mut repeats = FxHashMap::default();
        for item in items.iter().filter(|item| item.is_value()) {
            *repeats.entry((&*item.note, &*item.text)).or_default() += 1;
        }
        Self { first, now, named, repeats }
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

    /// A value is needed as its object is, less if others of the object are, and less if other objects have it too.
    fn value(&self, item: &'a Item, told: &mut FxHashMap<&'a str, i32>) -> f64 {
        let object = self.named.get(&*item.head).copied().unwrap_or(UNNAMED).max(UNNAMED);
        let rank = told.entry(&item.head).or_default();
        *rank += 1;
        let repeats = self.repeats.get(&(&*item.note, &*item.text)).copied().unwrap_or(1);
        object * item.worth() * of_shape(&item.text) * FURTHER.powi(*rank - 1)
            / (1.0 + log2(f64::from(repeats)))
    }
}

/// How much more often than a word a value of this shape is needed again: it names another thing, or it only measures one.
fn of_shape(value: &str) -> f64 {
    match entities(value).first().filter(|entity| entity.text == value).map(|entity| entity.kind) {
        Some(Shape::Code | Shape::Identifier | Shape::Email | Shape::Path | Shape::File) => 2.0,
        Some(Shape::Number | Shape::Time | Shape::Money) => 0.6,
        _ => 1.0,
    }
}
