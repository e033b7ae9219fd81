//! The archive of one conversation of the memory store.

use std::{ops::RangeInclusive, sync::Arc};

use imbl::{HashMap, Vector};

use utterd_domain::{Ranges, Sequence, Utterance};

/// Archived utterances, by sequence and by the id that a client gave. Clones share everything until one of
/// them changes.
#[derive(Clone, Default)]
pub(super) struct Archive {
    /// Ascending.
    utterances: Vector<Arc<Utterance>>,
    given_ids: HashMap<Box<str>, Sequence>,
}

impl Archive {
    pub(super) fn get(&self, sequence: Sequence) -> Option<&Arc<Utterance>> {
        self.utterances.get(self.place(sequence).ok()?)
    }

    /// Returns all utterances, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Utterance>> {
        self.utterances.iter()
    }

    /// Returns the utterances with these sequences, ascending.
    pub(super) fn among(&self, range: RangeInclusive<Sequence>) -> impl Iterator<Item = &Arc<Utterance>> {
        self.utterances.focus().narrow(self.places(&range)).into_iter()
    }

    /// Returns the sequence of the utterance to which a client gave `id`.
    pub(super) fn given(&self, id: &str) -> Option<Sequence> {
        self.given_ids.get(id).copied()
    }

    /// Adds an utterance, or replaces the one with its sequence.
    pub(super) fn keep(&mut self, utterance: &Arc<Utterance>) {
        if let Some(id) = utterance.given_id() {
            self.given_ids.insert(id.into(), utterance.sequence);
        }
        match self.place(utterance.sequence) {
            Ok(place) => drop(self.utterances.set(place, utterance.clone())),
            Err(place) if place == self.utterances.len() => self.utterances.push_back(utterance.clone()),
            Err(place) => self.utterances.insert(place, utterance.clone()),
        }
    }

    /// Removes the utterances in `gone`.
    pub(super) fn remove(&mut self, gone: &Ranges) {
        for range in gone.iter() {
            let places = self.places(&range);
            if places.is_empty() {
                continue;
            }
            let mut removed = self.utterances.split_off(places.start);
            let behind = removed.split_off(places.len());
            self.utterances.append(behind);
            self.free_ids(&removed);
        }
    }

    /// Returns the part of the archive with the sequences in `kept`. The cost depends on the number of
    /// removed ranges and of the given ids in them, not on the size of the part.
    pub(super) fn part(&self, kept: &Ranges) -> Self {
        let mut part = self.clone();
        if let (Some(first), Some(last)) = (self.utterances.front(), self.utterances.back()) {
            let mut gone = Ranges::of(first.sequence, last.sequence);
            gone.subtract(kept);
            part.remove(&gone);
        }
        part
    }

    /// Frees the ids of removed utterances, unless the same commit gave them to other utterances.
    fn free_ids(&mut self, removed: &Vector<Arc<Utterance>>) {
        if self.given_ids.is_empty() {
            return;
        }
        for utterance in removed {
            if let Some(id) = utterance.given_id().filter(|id| self.given(id) == Some(utterance.sequence)) {
                self.given_ids.remove(id);
            }
        }
    }

    fn place(&self, sequence: Sequence) -> Result<usize, usize> {
        match self.utterances.back() {
            Some(last) if last.sequence >= sequence => {
                self.utterances.binary_search_by_key(&sequence, |utterance| utterance.sequence)
            }
            _ => Err(self.utterances.len()),
        }
    }

    fn places(&self, range: &RangeInclusive<Sequence>) -> std::ops::Range<usize> {
        let start = self.place(*range.start()).unwrap_or_else(|place| place);
        start..self.place(range.end().next()).unwrap_or_else(|place| place)
    }
}
