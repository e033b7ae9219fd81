//! Cuts a message that exceeds the limits by itself to its head and its tail.

use super::{Entry, Unit, cut::Cost};
use crate::{TokenCounter, shortening::trim};

/// The share of a text that is kept whole; smaller shares are parts of it.
const WHOLE: u64 = 1 << 20;

/// Cuts the results of `unit`, and then its message, until it costs at most `most`, or as close to that as possible.
/// `cost` measures one of them. Returns false if it fits as it is.
pub fn shorten(
    unit: &mut Unit,
    most: Cost,
    cost: &dyn Fn(&Entry) -> Cost,
    counter: &dyn TokenCounter,
) -> bool {
    let before = unit.cost;
    for results in [true, false] {
        let texts: Vec<Box<str>> =
            part(unit, results).iter().map(|entry| entry.draft.content.clone()).collect();
        let mut share = WHOLE;
        while let Some(limit) = unit.cost.above(most).filter(|_| share > 0) {
            let (room, needed) = (u128::from(most.of(limit)), u128::from(unit.cost.of(limit)));
            // a sixteenth less, so that a few steps are enough
            share = (u128::from(share) * room * 15 / (needed * 16)) as u64;
            for (entry, text) in part(unit, results).iter_mut().zip(&texts) {
                let tokens = counter.count(text);
                let kept = (u64::from(tokens) * share / WHOLE) as u32;
                let (short, _) = trim(text, tokens, kept, counter);
                entry.draft.content = if short.len() < text.len() { short.into() } else { text.clone() };
            }
            unit.cost = unit.entries().map(cost).fold(Cost::default(), Cost::plus);
        }
    }
    unit.cost != before
}

fn part(unit: &mut Unit, results: bool) -> &mut [Entry] {
    if results { &mut unit.results } else { std::slice::from_mut(&mut unit.message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, More, Role, testing::o200k};

    fn entry(role: Role, words: usize) -> Entry {
        Entry { index: None, draft: Draft::of(role, "word ".repeat(words), More::default()) }
    }

    fn cost(entry: &Entry) -> Cost {
        let tokens = entry.draft.tokens(o200k()).into();
        Cost { messages: 0, bytes: entry.draft.content.len() as u64, tokens }
    }

    fn unit(words: usize, results: &[usize]) -> Unit {
        let results = results.iter().map(|words| entry(Role::Tool, *words)).collect();
        let mut unit = Unit { message: entry(Role::User, words), results, cost: Cost::default() };
        unit.cost = unit.entries().map(cost).fold(Cost::default(), Cost::plus);
        unit
    }

    fn shortened(mut unit: Unit, bytes: u64, tokens: u64) -> (bool, Unit) {
        let most = Cost { messages: 0, bytes, tokens };
        let is_shorter = shorten(&mut unit, most, &cost, o200k());
        assert!(unit.cost.above(most).is_none(), "{:?} of {most:?}", unit.cost);
        (is_shorter, unit)
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(shortened(unit(10, &[10]), 1_000, 100), (false, unit(10, &[10])));
    }

    #[test]
    fn results_are_cut_before_the_message() {
        let (is_shorter, cut) = shortened(unit(100, &[400, 200]), u64::MAX, 400);
        assert!(is_shorter && cut.cost.tokens > 250, "{:?}", cut.cost);
        assert_eq!(cut.message, unit(100, &[]).message);
        assert!(cut.results.iter().all(|result| result.draft.content.contains(" tokens left out …]")));
        let (_, cut) = shortened(unit(1_000, &[400]), 1_000, u64::MAX);
        assert!(
            cut.message.draft.content.starts_with("word ") && cut.message.draft.content.ends_with("word ")
        );
        assert!(cut.cost.bytes > 700, "{:?}", cut.cost);
    }
}
