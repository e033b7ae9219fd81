//! One way to choose: what is worth most for its length, of what is not told yet.

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::numbers::power;

/// The worth of a candidate is divided by its tokens to this power.
const LENGTH: f64 = 0.7;

/// What the worth of something that takes `tokens` is divided by for its length.
pub fn length(tokens: u32) -> f64 {
    power(f64::from(tokens.max(1)), LENGTH)
}

/// What can be chosen.
pub struct Candidate<'a> {
    /// Its place among all items.
    pub item: usize,
    /// Its tokens, with what it adds to a line.
    pub tokens: u32,
    /// What its worth is divided by for its length.
    pub length: f64,
    /// What it tells: words and names, each once.
    pub tells: &'a [u64],
    /// How much a reader misses without it.
    pub worth: f64,
    /// As many new words as this are its worth even if all of them are told.
    pub least: f64,
}

/// What the chosen items tell.
#[derive(Default)]
pub struct Coverage(FxHashSet<u64>);

impl Coverage {
    /// Adds what an item tells.
    pub fn add(&mut self, tells: &[u64]) {
        self.0.extend(tells);
    }

    fn fresh(&self, candidate: &Candidate<'_>) -> usize {
        candidate.tells.iter().filter(|told| !self.0.contains(told)).count()
    }

    /// The worth of a candidate beside what is told, for its length.
    fn gain(&self, candidate: &Candidate<'_>) -> f64 {
        let fresh = self.fresh(candidate);
        candidate.worth * (fresh as f64).max(candidate.least) / candidate.length
    }
}

/// A candidate with its gain when it was last looked at; the largest first, and of equals the first.
#[derive(PartialEq)]
struct Ranked {
    gain: f64,
    place: usize,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.place.cmp(&self.place))
    }
}

/// Chooses from `candidates` what fits into `room` tokens, and adds it to what is told; returns the chosen places in the
/// order of their gain, and the tokens. A gain only shrinks as more is told, so one that is still the largest when it is
/// looked at again is the largest of all.
pub fn fill(candidates: &[Candidate<'_>], told: &mut Coverage, room: u32) -> (Vec<usize>, u32) {
    let rank = |told: &Coverage, place: usize| Ranked { gain: told.gain(&candidates[place]), place };
    let mut heap: BinaryHeap<Ranked> = (0..candidates.len()).map(|place| rank(told, place)).collect();
    let (mut chosen, mut used) = (Vec::new(), 0);
    while let Some(top) = heap.pop() {
        let candidate = &candidates[top.place];
        if top.gain <= 0.0 {
            break;
        }
        if used + candidate.tokens > room {
            continue;
        }
        let now = rank(told, top.place);
        if now.gain < top.gain {
            heap.push(now);
            continue;
        }
        used += candidate.tokens;
        told.add(candidate.tells);
        chosen.push(candidate.item);
    }
    (chosen, used)
}
