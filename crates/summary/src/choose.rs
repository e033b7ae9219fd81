//! One way to choose: what is worth most for its length, of what is not told yet.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::numbers::power;

/// The worth of a candidate is divided by its tokens to this power.
const LENGTH: f64 = 0.7;
/// In a talk, telling something is worth the number of sentences that tell it, to this power.
const RECURS: f64 = 0.5;
/// The first sentence of a speaker is worth this many times as much.
const UNHEARD: f64 = 4.0;

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
    /// What it tells: the numbers of words and names, each once.
    pub tells: &'a [usize],
    /// How much a reader misses without it.
    pub worth: f64,
    /// Who speaks, if the first sentence of each speaker is worth more.
    pub speaker: Option<usize>,
    /// As many new words as this are its worth even if all of them are told.
    pub least: f64,
}

/// What the chosen items tell, and what telling it is worth.
pub struct Coverage {
    told: Vec<bool>,
    worth: Vec<f64>,
}

impl Coverage {
    /// Of so many things that can be told; telling each is worth the same.
    pub fn new(things: usize) -> Self {
        Self { told: vec![false; things], worth: vec![1.0; things] }
    }

    /// In a talk with these `sentences`, what recurs is what it is about. On average, telling something is worth 1.
    pub fn weigh<'a>(&mut self, sentences: impl Iterator<Item = &'a Vec<usize>>) {
        let mut counts = vec![0_u32; self.worth.len()];
        sentences.flatten().for_each(|thing| counts[*thing] += 1);
        let said = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let (mut all, mut sum) = (0.0, 0.0);
        for (thing, count) in said() {
            let count = f64::from(*count);
            // most occur once
            self.worth[thing] = if count > 1.0 { power(count, RECURS) } else { 1.0 };
            (all, sum) = (all + count, sum + count * self.worth[thing]);
        }
        said().for_each(|(thing, _)| self.worth[thing] /= sum / all);
    }

    fn add(&mut self, candidate: &Candidate<'_>) {
        candidate.tells.iter().chain(&candidate.speaker).for_each(|thing| self.told[*thing] = true);
    }

    fn fresh(&self, candidate: &Candidate<'_>) -> f64 {
        let fresh = candidate.tells.iter().filter(|thing| !self.told[**thing]);
        // a sum of nothing is -0.0, whose bits are not in order
        fresh.fold(0.0, |sum, thing| sum + self.worth[*thing])
    }

    /// The worth of a candidate beside what is told, for its length.
    fn gain(&self, candidate: &Candidate<'_>) -> f64 {
        let fresh = self.fresh(candidate);
        let is_heard = candidate.speaker.is_none_or(|speaker| self.told[speaker]);
        let worth = if is_heard { candidate.worth } else { UNHEARD * candidate.worth };
        worth * fresh.max(candidate.least) / candidate.length
    }
}

/// Chooses from `candidates` what fits into `room` tokens, and adds it to what is told; returns the chosen places in the
/// order of their gain, and the tokens. A gain only shrinks as more is told, so one that is still the largest when it is
/// looked at again is the largest of all.
pub fn fill(candidates: &[Candidate<'_>], told: &mut Coverage, room: u32) -> (Vec<usize>, u32) {
    // the bits of numbers that are not negative are in their order
    let gain = |told: &Coverage, place: usize| told.gain(&candidates[place]).to_bits();
    let mut heap: BinaryHeap<(u64, Reverse<usize>)> =
        (0..candidates.len()).map(|place| (gain(told, place), Reverse(place))).collect();
    let (mut chosen, mut used) = (Vec::new(), 0);
    while let Some((last, Reverse(place))) = heap.pop().filter(|(gain, _)| *gain > 0) {
        let candidate = &candidates[place];
        if used + candidate.tokens > room {
            continue;
        }
        let now = gain(told, place);
        if now < last {
            heap.push((now, Reverse(place)));
            continue;
        }
        used += candidate.tokens;
        told.add(candidate);
        chosen.push(candidate.item);
    }
    (chosen, used)
}
