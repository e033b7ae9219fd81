//! The window: the live utterances of a conversation, in order.
//!
//! A persistent structure: a clone shares everything and costs the same at 20 and at 100,000 utterances. The
//! counts are maintained as it changes.

use std::sync::Arc;

use imbl::OrdMap;
use smallvec::SmallVec;

use crate::{Marks, Policy, Ranges, Sequence, Utterance, values::log::Log};

/// The rolling buffer.
#[derive(Clone, Debug, Default)]
pub struct Window {
    utterances: Log<Arc<Utterance>>,
    /// Distinct turns, from 1, of live utterances. Turns never go back, so that equal ones are neighbours,
    /// and the newest one shows whether the next is another.
    turns: u32,
    newest_live_turn: u32,
    given_ids: OrdMap<Arc<str>, Sequence>,
    tokens: u64,
    forgotten: u32,
    pinned: u32,
    instructions: u32,
    extras_bytes: usize,
    memory_bytes: usize,
}

impl Window {
    /// The number of occupied slots.
    pub fn len(&self) -> usize {
        self.utterances.len()
    }

    /// Whether no slot is occupied.
    pub fn is_empty(&self) -> bool {
        self.utterances.len() == 0
    }

    /// Tokens of the live utterances.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Distinct turns of the live utterances; turn 0 does not count.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Soft-forgotten utterances.
    pub fn forgotten(&self) -> u32 {
        self.forgotten
    }

    /// Pinned utterances.
    pub fn pinned(&self) -> u32 {
        self.pinned
    }

    /// System utterances at the head.
    pub fn instructions(&self) -> u32 {
        self.instructions
    }

    /// The bytes of all original contents.
    pub fn extras_bytes(&self) -> usize {
        self.extras_bytes
    }

    /// The approximate size of the utterances in memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// The utterances, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Utterance>> + ExactSizeIterator {
        self.utterances.slice(0..self.len())
    }

    /// The utterances at the places `range`, counted from 0; places beyond the end are skipped.
    pub fn slice(&self, range: std::ops::Range<usize>) -> impl DoubleEndedIterator<Item = &Arc<Utterance>> {
        self.utterances.slice(range)
    }

    /// The utterance at a place, counted from 0.
    pub fn at(&self, place: usize) -> Option<&Arc<Utterance>> {
        self.utterances.get(place)
    }

    /// The newest utterance.
    pub fn last(&self) -> Option<&Arc<Utterance>> {
        self.at(self.len().checked_sub(1)?)
    }

    /// The place of `sequence`, counted from 0; or, if it is not in the window, the place of the first
    /// utterance after it.
    pub fn place(&self, sequence: Sequence) -> Result<usize, usize> {
        let Some(newest) = self.last().map(|newest| newest.sequence.get()) else { return Err(0) };
        let distance = newest.checked_sub(sequence.get()).ok_or(self.len())?;
        // most windows have no gap between a sequence and the newest one
        let guess = self.len().checked_sub(1 + distance as usize);
        match guess.filter(|guess| self.at(*guess).is_some_and(|found| found.sequence == sequence)) {
            Some(place) => Ok(place),
            None => self.search(sequence),
        }
    }

    /// The utterances from `first` to `last`, ascending.
    pub fn between(
        &self,
        first: Sequence,
        last: Sequence,
    ) -> impl DoubleEndedIterator<Item = &Arc<Utterance>> {
        let place = |sequence| self.place(sequence).unwrap_or_else(|place| place);
        self.slice(place(first)..place(last.next()))
    }

    /// The utterance with `sequence`.
    pub fn get(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        self.at(self.place(sequence).ok()?)
    }

    /// The position of `sequence`, counted from 1 for the oldest utterance.
    pub fn position(&self, sequence: Sequence) -> Option<u32> {
        self.place(sequence).ok().map(|place| place as u32 + 1)
    }

    /// The sequence of the utterance with the client-given id `id`.
    pub fn given(&self, id: &str) -> Option<Sequence> {
        self.given_ids.get(id).copied()
    }

    /// The utterances of the unit that starts at `unit`.
    pub fn unit(&self, unit: Sequence) -> impl Iterator<Item = &Arc<Utterance>> {
        let start = self.place(unit).unwrap_or_else(|place| place);
        self.slice(start..self.len()).take_while(move |utterance| utterance.unit == unit)
    }

    /// Adds the newest utterance.
    pub fn push(&mut self, utterance: Arc<Utterance>) {
        self.count(&utterance);
        if utterance.is_live() && utterance.turn > 0 && utterance.turn != self.newest_live_turn {
            self.turns += 1;
            self.newest_live_turn = utterance.turn;
        }
        self.utterances.push(utterance);
    }

    /// The window with `others` in their places.
    pub fn with(&self, others: &[Arc<Utterance>]) -> Self {
        let mut all: Vec<_> = self.iter().chain(others).collect();
        all.sort_by_key(|utterance| utterance.sequence);
        all.into_iter().cloned().collect()
    }

    /// Replaces the utterances that have the sequences of `changed`.
    pub fn replace(&mut self, changed: &[Arc<Utterance>]) {
        for utterance in changed {
            let Ok(place) = self.place(utterance.sequence) else { continue };
            let before = self.utterances.set(place, utterance.clone());
            self.discount(&before);
            self.count(utterance);
        }
        self.recount_turns();
    }

    /// Removes the utterances in `gone`.
    pub fn remove(&mut self, gone: &Ranges) {
        let stays = gone.first().map_or(self.len(), |first| self.place(first).unwrap_or_else(|place| place));
        if self.slice(stays..self.len()).all(|utterance| gone.contains(utterance.sequence)) {
            let last = self.at(stays.wrapping_sub(1)).map_or(Sequence(0), |last| last.sequence);
            return self.truncate(last);
        }
        let removed: Vec<_> = self.iter().filter(|u| gone.contains(u.sequence)).cloned().collect();
        removed.iter().for_each(|utterance| self.discount(utterance));
        // copied even if nothing of the window is removed: utterances that left it may still be in a chunk
        self.utterances =
            self.iter().filter(|utterance| !gone.contains(utterance.sequence)).cloned().collect();
        self.recount_turns();
    }

    /// Removes the utterances after `last`. The cost depends on how many are removed or how many stay,
    /// whichever is less.
    pub fn truncate(&mut self, last: Sequence) {
        let length = self.place(last).map_or_else(|place| place, |place| place + 1);
        let gone = self.len() - length;
        match gone {
            0 => {}
            _ if length < gone => *self = self.slice(0..length).cloned().collect(),
            _ => self.cut_end(length),
        }
    }

    fn cut_end(&mut self, length: usize) {
        let gone: Vec<_> = self.slice(length..self.len()).cloned().collect();
        self.utterances.truncate(length);
        gone.iter().for_each(|utterance| self.discount(utterance));
        self.newest_live_turn = self.turn_of_newest_live();
        let turns = gone.iter().filter(|utterance| utterance.is_live()).map(|utterance| utterance.turn);
        let mut turns: Vec<u32> = turns.filter(|turn| *turn > 0 && *turn != self.newest_live_turn).collect();
        turns.dedup();
        self.turns -= turns.len() as u32;
    }

    /// If a measure is above its maximum, evicts the oldest units until every measure is at or under its
    /// `keep`. Skips instructions and pinned units; never takes the newest unit. Returns the evicted
    /// utterances, oldest first.
    pub fn evict(&mut self, policy: &Policy) -> Vec<Arc<Utterance>> {
        let (mut evicted, mut held, mut cut) = (Vec::new(), Vec::new(), 0);
        if !self.is_over(policy) {
            return evicted;
        }
        let newest = self.last().map(|utterance| utterance.unit);
        while self.exceeds(policy, self.len() - evicted.len(), Marks::keep) {
            let Some(first) = self.at(cut).filter(|first| Some(first.unit) != newest) else { break };
            let unit: Vec<_> = self.unit(first.unit).cloned().collect();
            cut += unit.len();
            if unit.iter().any(|utterance| utterance.pinned || utterance.instruction) {
                held.extend(unit);
            } else {
                unit.iter().for_each(|utterance| self.discount(utterance));
                self.discount_turns(&unit, &held, cut);
                evicted.extend(unit);
            }
        }
        match held.is_empty() {
            true => self.utterances.cut(cut),
            false => self.utterances = held.into_iter().chain(self.slice(cut..self.len()).cloned()).collect(),
        }
        self.newest_live_turn = self.turn_of_newest_live();
        evicted
    }

    /// Discounts the turns of `unit` that neither `held` nor the utterances from `cut` on have.
    fn discount_turns(&mut self, unit: &[Arc<Utterance>], held: &[Arc<Utterance>], cut: usize) {
        let live = unit.iter().filter(|utterance| utterance.is_live() && utterance.turn > 0);
        let mut turns: SmallVec<[u32; 4]> = live.map(|utterance| utterance.turn).collect();
        turns.dedup();
        let remains = |turn: &u32| {
            let rest = self.slice(cut..self.len()).take_while(|other| other.turn == *turn);
            let held = held.iter().rev().take_while(|other| other.turn == *turn);
            held.chain(rest).any(|other| other.is_live())
        };
        self.turns -= turns.iter().filter(|turn| !remains(turn)).count() as u32;
    }

    fn search(&self, sequence: Sequence) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.utterances[middle].sequence < sequence {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        match self.at(low).is_some_and(|found| found.sequence == sequence) {
            true => Ok(low),
            false => Err(low),
        }
    }

    fn recount_turns(&mut self) {
        let live = self.iter().filter(|utterance| utterance.is_live() && utterance.turn > 0);
        let (turns, newest) = live.fold((0, 0), |(turns, newest), utterance| {
            (turns + u32::from(utterance.turn != newest), utterance.turn)
        });
        (self.turns, self.newest_live_turn) = (turns, newest);
    }

    fn turn_of_newest_live(&self) -> u32 {
        self.iter().rev().find(|utterance| utterance.is_live()).map_or(0, |utterance| utterance.turn)
    }

    /// Whether a measure is above its maximum.
    pub fn is_over(&self, policy: &Policy) -> bool {
        self.exceeds(policy, self.len(), Marks::max)
    }

    /// Whether a measure would be above its maximum with `utterances` of `tokens` more, if they begin a turn.
    pub fn would_be_over(&self, policy: &Policy, utterances: usize, tokens: u64) -> bool {
        let above =
            |marks: Option<Marks>, value: u64| marks.is_some_and(|marks| value > u64::from(marks.max()));
        above(policy.utterances, (self.len() + utterances) as u64)
            || above(policy.tokens, self.tokens + tokens)
            || above(policy.turns, u64::from(self.turns) + 1)
    }

    /// Whether there are more turns than the policy allows.
    pub fn is_over_turns(&self, policy: &Policy) -> bool {
        policy.turns.is_some_and(|turns| self.turns > turns.max())
    }

    fn exceeds(&self, policy: &Policy, slots: usize, bound: fn(Marks) -> u32) -> bool {
        let above =
            |marks: Option<Marks>, value: u64| marks.is_some_and(|marks| value > u64::from(bound(marks)));
        above(policy.utterances, slots as u64)
            || above(policy.tokens, self.tokens)
            || above(policy.turns, u64::from(self.turns))
    }

    fn count(&mut self, utterance: &Utterance) {
        self.tokens += u64::from(utterance.counted_tokens());
        self.forgotten += u32::from(utterance.forgotten);
        self.pinned += u32::from(utterance.pinned);
        self.instructions += u32::from(utterance.instruction);
        self.extras_bytes += utterance.extras_bytes();
        self.memory_bytes += utterance.memory_bytes();
        if let Some(id) = utterance.given_id() {
            self.given_ids.insert(id.into(), utterance.sequence);
        }
    }

    fn discount(&mut self, utterance: &Utterance) {
        self.tokens -= u64::from(utterance.counted_tokens());
        self.forgotten -= u32::from(utterance.forgotten);
        self.pinned -= u32::from(utterance.pinned);
        self.instructions -= u32::from(utterance.instruction);
        self.extras_bytes -= utterance.extras_bytes();
        self.memory_bytes -= utterance.memory_bytes();
        if let Some(id) = utterance.given_id() {
            self.given_ids.remove(id);
        }
    }
}

impl FromIterator<Arc<Utterance>> for Window {
    /// Collects `utterances`, which ascend by sequence.
    fn from_iter<I: IntoIterator<Item = Arc<Utterance>>>(utterances: I) -> Self {
        let mut window = Self::default();
        utterances.into_iter().for_each(|utterance| window.push(utterance));
        window
    }
}

impl PartialEq for Window {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
