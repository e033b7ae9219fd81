//! What Remember finds, taken match by match until the page ends.

use std::{collections::HashMap, sync::Arc};

use crate::{
    domain::{Conversation, Sequence, Timestamp, Utterance, recall::Match},
    engine::page::PageRoom,
};

/// One match.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its conversation, as it was searched.
    pub state: Arc<Conversation>,
    /// The utterance.
    pub utterance: Arc<Utterance>,
    /// What matches are ordered by.
    pub score: f64,
    /// How much of the prompt it covers, from 0 to 1.
    pub relevance: f64,
    /// How new it is, up to 1.
    pub recency: f64,
    /// What it has of the prompt.
    pub matched: Match,
    /// The utterances around it.
    pub neighbors: Vec<Arc<Utterance>>,
}

impl Found {
    pub(super) fn new(state: &Arc<Conversation>, utterance: Arc<Utterance>, recency: f64) -> Self {
        Self {
            state: state.clone(),
            utterance,
            score: 0.0,
            relevance: 0.0,
            recency,
            matched: Match::default(),
            neighbors: Vec::new(),
        }
    }

    /// The most bytes that it takes in an answer.
    fn answer_bytes(&self) -> usize {
        let terms: usize = self.matched.terms.iter().map(|term| term.len() + 8).sum();
        let terms = terms + 16 * self.matched.ranges.len();
        let neighbors: usize = self.neighbors.iter().map(|neighbor| neighbor.answer_bytes()).sum();
        256 + terms + self.utterance.answer_bytes() + neighbors
    }

    /// Leaves out what is farthest of its neighbours until it takes at most so many bytes, or has none.
    fn narrow(&mut self, bytes: usize) {
        let sequence = self.utterance.sequence.get();
        while self.answer_bytes() > bytes {
            let distance = |place: &usize| self.neighbors[*place].sequence.get().abs_diff(sequence);
            let Some(farthest) = (0..self.neighbors.len()).max_by_key(distance) else { return };
            self.neighbors.remove(farthest);
        }
    }
}

/// The matches of a page, as they come in their order.
///
/// Of an utterance that several conversations share, and none has changed, the first match stays.
#[derive(Debug)]
pub(super) struct Matches {
    skip: usize,
    room: PageRoom,
    /// What came already; empty where one conversation is searched, which has everything once.
    seen: Option<HashMap<Place, Vec<Arc<Utterance>>>>,
    /// The matches of the page.
    pub found: Vec<Found>,
    /// Whether there are others behind them.
    pub more: bool,
}

/// What all copies of a shared utterance have in common.
type Place = (Sequence, Timestamp);

impl Matches {
    /// None yet, of `states` conversations; the first `skip` are on earlier pages.
    pub fn new(states: usize, skip: usize, room: PageRoom) -> Self {
        let seen = (states > 1).then(HashMap::new);
        Self { skip, room, seen, found: Vec::new(), more: false }
    }

    /// Whether the page goes on with this match: neither one of an earlier page, nor a copy, nor beyond its
    /// end, which `more` then tells.
    pub fn wants(&mut self, found: &Found) -> bool {
        if !self.is_first(found) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.more |= self.room.is_full();
        !self.more
    }

    /// Takes a match that is wanted, unless the page ends before it, which `more` then tells.
    pub fn take(&mut self, mut found: Found) {
        if self.room.is_empty() {
            found.narrow(self.room.bytes());
        }
        match self.room.takes(found.answer_bytes()) {
            true => self.found.push(found),
            false => self.more = true,
        }
    }

    fn is_first(&mut self, found: &Found) -> bool {
        let Some(seen) = &mut self.seen else { return true };
        let same = seen.entry((found.utterance.sequence, found.utterance.create_time)).or_default();
        let is_first = !same.contains(&found.utterance);
        if is_first {
            same.push(found.utterance.clone());
        }
        is_first
    }
}
