//! Chooses sentences greedily: always the one that adds most for its length.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    TokenCounter,
    extractive::{
        Sentence,
        people::{
            cues::Cues,
            talk::Talk,
            told::{Told, Way},
            weights::{Scale, kept},
        },
    },
};

/// A budget's remainder smaller than this, in tokens, is left unused.
const LEAST_TOKENS: u32 = 4;
/// How often a sentence is weighed again against what was chosen; after that it is taken as it is. Keeps the
/// work linear in the number of sentences.
const MAX_REVISIONS: u8 = 16;
/// The search ends after this many sentences in a row that do not fit.
const MAX_MISSES: u32 = 16;
/// The largest number of queues; the speakers who say least share the last one.
const MAX_QUEUES: usize = 32;
/// With two speakers, the share of the budget allowed for the first quotation, in percent.
const FIRST_PERCENT: u32 = 60;
/// Assumed bytes per token when sentences are compared.
const TOKEN_BYTES: f64 = 4.5;
/// Dampens the shares while only a few tokens are chosen.
const EARLY_TOKENS: f64 = 20.0;
/// How many turns a decision counts for in a speaker's share.
const DECISION_TURNS: u32 = 3;

/// Chooses among a talk's sentences.
pub(super) struct Cover<'a> {
    talk: &'a Talk,
    scale: Scale,
    /// By concept: what mentioning it (again) is worth.
    worth: Vec<f64>,
    /// By sentence: the factor for its concepts, and how often it was weighed again.
    factors: Vec<f64>,
    revisions: Vec<u8>,
    queues: Vec<Queue>,
    /// By speaker.
    queue_of: Vec<usize>,
    /// By sentence: whether it was chosen or did not fit.
    done: Vec<bool>,
}

/// The sentences of one speaker, or of all who speak least.
#[derive(Default)]
struct Queue {
    /// By gain: the bits of a positive float, which sort in the same order.
    heap: BinaryHeap<(u64, Reverse<usize>)>,
    /// The intended share of all chosen tokens.
    share: f64,
    tokens: f64,
    lines: usize,
    /// The first sentence that did not fit.
    missed: Option<usize>,
}

impl<'a> Cover<'a> {
    pub(super) fn of(talk: &'a Talk) -> Self {
        let scale = Scale::of(talk);
        let worth = talk.concepts.iter().map(|concept| scale.concept(concept, talk.utterances)).collect();
        let factors = (0..talk.lines.len()).map(|line| scale.line(talk, line)).collect();
        let (queues, queue_of) = queues(talk);
        let (revisions, done) = (vec![0; talk.lines.len()], vec![false; talk.lines.len()]);
        let mut cover = Self { talk, scale, worth, factors, revisions, queues, queue_of, done };
        (0..talk.lines.len()).for_each(|line| cover.offer(line, false));
        cover
    }

    /// The chosen lines, in at most `budget` tokens, with their days if `tells_days`.
    pub(super) fn told(mut self, budget: u32, tells_days: bool, counter: &dyn TokenCounter) -> Vec<Sentence> {
        let mut told = Told::of(self.talk, tells_days, counter);
        let mut left = self.fill(budget, &mut told);
        while let Some((line, way)) = self.clipped(left, &told) {
            left -= way.cost;
            self.take(line, way, &mut told);
            left = self.fill(left, &mut told);
        }
        told.sentences(|start, end| {
            (start..end).map(|line| kept(self.talk, line, self.factors[line])).fold(0, u32::saturating_add)
        })
    }

    /// Adds sentences that fit into `left` tokens; returns the tokens left then.
    fn fill(&mut self, mut left: u32, told: &mut Told) -> u32 {
        let (mut misses, mut most) = (0, 0.0_f64);
        while left >= LEAST_TOKENS && misses < MAX_MISSES {
            let Some((gain, line)) = self.next(told) else { break };
            most = most.max(gain);
            let is_unquoted = self.queues.len() == 2 && self.queue(line).lines == 0;
            let decides = self.talk.lines[line].cues.has(Cues::DECISION);
            if gain < self.scale.least_gain * most && !decides && !is_unquoted {
                self.done[line] = true;
                continue;
            }
            let way = told.way(line);
            if way.cost > self.room(left) {
                self.miss(line);
                misses += 1;
            } else {
                left -= way.cost;
                self.take(line, way, told);
                misses = 0;
            }
        }
        left
    }

    /// The most tokens that one sentence may take.
    fn room(&self, left: u32) -> u32 {
        let is_first = self.queues.iter().all(|queue| queue.lines == 0);
        match is_first && self.queues.len() == 2 {
            true => (u64::from(left) * u64::from(FIRST_PERCENT)).div_ceil(100) as u32,
            false => left,
        }
    }

    fn miss(&mut self, line: usize) {
        self.done[line] = true;
        self.queue(line).missed.get_or_insert(line);
    }

    fn take(&mut self, line: usize, way: Way, told: &mut Told) {
        self.done[line] = true;
        for concept in self.talk.concepts(line) {
            self.worth[*concept as usize] *= self.scale.again;
        }
        let queue = self.queue(line);
        queue.tokens += f64::from(way.cost);
        queue.lines += usize::from(way.is_new);
        told.tell(way);
        // the sentences next to it cost less now
        for next in [line.checked_sub(1), Some(line + 1)].into_iter().flatten() {
            if next < self.talk.lines.len() && told.joins(next) {
                self.offer(next, true);
            }
        }
    }

    /// A clipped sentence from a speaker not quoted at all, if nobody is quoted or only two talk.
    fn clipped(&self, left: u32, told: &Told<'a>) -> Option<(usize, Way)> {
        let is_first = self.queues.iter().all(|queue| queue.lines == 0);
        let unquoted = self.queues.iter().filter(|queue| queue.lines == 0);
        let line = unquoted.filter_map(|queue| queue.missed).next();
        let line = line.filter(|_| is_first || self.queues.len() == 2)?;
        Some((line, told.clipped(line, self.room(left))?))
    }

    /// The next sentence to add, and its gain.
    fn next(&mut self, told: &Told) -> Option<(f64, usize)> {
        let total: f64 = self.queues.iter().map(|queue| queue.tokens).sum();
        let mut best: Option<(f64, f64, usize)> = None;
        for at in 0..self.queues.len() {
            let Some((gain, line)) = self.top(at, told) else { continue };
            if !self.may_speak(at, told.joins(line)) {
                continue;
            }
            let fair = gain / (1.0 + self.excess(at, total));
            if best.is_none_or(|(most, ..)| fair > most) {
                best = Some((fair, gain, at));
            }
        }
        let (_, gain, at) = best?;
        let (_, Reverse(line)) = self.queues[at].heap.pop()?;
        Some((gain, line))
    }

    /// The best sentence of a queue, and its gain.
    fn top(&mut self, at: usize, told: &Told) -> Option<(f64, usize)> {
        loop {
            let (bits, Reverse(line)) = *self.queues[at].heap.peek()?;
            let gain = if self.done[line] { 0.0 } else { self.gain(line, told.joins(line)) };
            if gain > 0.0 && (gain.to_bits() == bits || self.revisions[line] == MAX_REVISIONS) {
                return Some((gain, line));
            }
            self.queues[at].heap.pop();
            if gain > 0.0 {
                self.revisions[line] += 1;
                self.queues[at].heap.push((gain.to_bits(), Reverse(line)));
            }
        }
    }

    /// With two speakers, neither gets more than two thirds of the lines.
    fn may_speak(&self, at: usize, joins: bool) -> bool {
        let [one, other] = self.queues.as_slice() else { return true };
        let (own, other) = if at == 0 { (one, other) } else { (other, one) };
        let is_alone = other.lines == 0 && other.heap.is_empty() && other.missed.is_none();
        joins || is_alone || own.lines < (2 * other.lines).max(1)
    }

    /// How far a queue exceeds its share.
    fn excess(&self, at: usize, total: f64) -> f64 {
        let queue = &self.queues[at];
        let over = queue.tokens / (total + EARLY_TOKENS) / queue.share - 1.0;
        if self.queues.len() > 2 { over.max(0.0) } else { 0.0 }
    }

    /// What a sentence adds to the chosen ones, for its length.
    fn gain(&self, line: usize, joins: bool) -> f64 {
        let (talk, scale) = (self.talk, &self.scale);
        let name = talk.name(talk.lines[line].speaker).len() as f64 / TOKEN_BYTES;
        let own = if joins { 0.0 } else { scale.line + name };
        let cost = talk.words(line).len() as f64 / TOKEN_BYTES + own;
        let worth: f64 = talk.concepts(line).iter().map(|concept| self.worth[*concept as usize]).sum();
        worth * self.factors[line] / cost.max(1.0).powf(scale.length)
    }

    fn offer(&mut self, line: usize, joins: bool) {
        let gain = if self.done[line] { 0.0 } else { self.gain(line, joins) };
        if gain > 0.0 {
            self.queue(line).heap.push((gain.to_bits(), Reverse(line)));
        }
    }

    fn queue(&mut self, line: usize) -> &mut Queue {
        &mut self.queues[self.queue_of[self.talk.lines[line].speaker]]
    }
}

/// A queue for each speaker, and the queue of each speaker.
fn queues(talk: &Talk) -> (Vec<Queue>, Vec<usize>) {
    let turns = |speaker: usize| {
        let speaker = &talk.speakers[speaker];
        speaker.utterances + DECISION_TURNS * speaker.decisions
    };
    let mut order: Vec<usize> = (0..talk.speakers.len()).collect();
    order.sort_by_key(|speaker| Reverse(turns(*speaker)));
    let count = order.len().min(MAX_QUEUES);
    let mut queue_of = vec![0; order.len()];
    let mut queues: Vec<Queue> = std::iter::repeat_with(Queue::default).take(count).collect();
    let all: u32 = order.iter().map(|speaker| turns(*speaker)).sum();
    for (place, speaker) in order.into_iter().enumerate() {
        let at = place.min(count - 1);
        queue_of[speaker] = at;
        // half by turns, half equal for everyone
        queues[at].share += f64::from(turns(speaker)) / f64::from(all.max(1)) / 2.0;
    }
    queues.iter_mut().for_each(|queue| queue.share += 0.5 / count as f64);
    (queues, queue_of)
}
