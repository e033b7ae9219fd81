//! One way to choose: what is worth most for its length, of what is not told yet.

use std::collections::BinaryHeap;

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
#[derive(Debug)]
pub struct Candidate {
    /// Its tokens, with what it adds to a line.
    pub tokens: u32,
    /// What its worth is divided by for its length.
    pub length: f64,
    /// What it tells: the numbers of words and names, each once.
    pub tells: Vec<usize>,
    /// How much a reader misses without it.
    pub worth: f64,
    /// How much more it is worth for what is asked for.
    pub asked: f64,
    /// Who speaks, if the first sentence of each speaker is worth more.
    pub speaker: Option<usize>,
    /// As many new words as this are its worth even if all of them are told.
    pub least: f64,
    /// It was chosen.
    pub is_taken: bool,
}

impl Candidate {
    /// How much it is wanted before what is told is considered.
    pub fn wanted(&self) -> f64 {
        self.worth * self.asked
    }
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

    fn add(&mut self, candidate: &Candidate) {
        candidate.tells.iter().chain(&candidate.speaker).for_each(|thing| self.told[*thing] = true);
    }

    fn fresh(&self, candidate: &Candidate) -> f64 {
        let fresh = candidate.tells.iter().filter(|thing| !self.told[**thing]);
        // a sum of nothing is -0.0, whose bits are not in order
        fresh.fold(0.0, |sum, thing| sum + self.worth[*thing])
    }

    /// The worth of a candidate beside what is told, for its length.
    fn gain(&self, candidate: &Candidate) -> f64 {
        let fresh = self.fresh(candidate);
        let is_heard = candidate.speaker.is_none_or(|speaker| self.told[speaker]);
        let worth = candidate.wanted() * if is_heard { 1.0 } else { UNHEARD };
        worth * fresh.max(candidate.least) / candidate.length
    }
}

/// Chooses from the candidates at `places` what fits into `room` tokens, and adds it to what is told; returns the chosen
/// places in the order of their gain, and the tokens. Of two with the same gain, it is the later one. A gain only shrinks
/// as more is told, so one that is still the largest when it is looked at again is the largest of all.
pub fn fill(
    candidates: &mut [Candidate],
    places: &[usize],
    told: &mut Coverage,
    room: u32,
) -> (Vec<usize>, u32) {
    // the bits of numbers that are not negative are in their order
    let gain = |told: &Coverage, candidate: &Candidate| told.gain(candidate).to_bits();
    let can_be = |candidate: &Candidate| !candidate.is_taken && candidate.tokens <= room;
    let free = places.iter().copied().filter(|at| can_be(&candidates[*at]));
    let mut heap: BinaryHeap<(u64, usize)> = free.map(|at| (gain(told, &candidates[at]), at)).collect();
    let (mut chosen, mut used) = (Vec::new(), 0);
    while let Some((last, at)) = heap.pop().filter(|(gain, _)| *gain > 0) {
        let candidate = &mut candidates[at];
        if used + candidate.tokens > room {
            continue;
        }
        let now = gain(told, candidate);
        if now < last {
            heap.push((now, at));
            continue;
        }
        used += candidate.tokens;
        candidate.is_taken = true;
        told.add(candidate);
        chosen.push(at);
    }
    (chosen, used)
}
