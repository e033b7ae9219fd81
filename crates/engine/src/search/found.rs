//! What a search covers, and its results, collected match by match until the page ends.

use std::{collections::HashMap, sync::Arc};

use crate::read::page::PageRoom;
use utterd_domain::{Conversation, Ranges, Sequence, Timestamp, Utterance, recall::Match};

/// One match.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its conversation, in the state that was searched.
    pub state: Arc<Conversation>,
    /// The utterance.
    pub utterance: Arc<Utterance>,
    /// The score that matches are ordered by.
    pub score: f64,
    /// How much of the prompt the utterance covers, from 0 to 1.
    pub relevance: f64,
    /// How new the utterance is, up to 1.
    pub recency: f64,
    /// Where the utterance and the prompt match.
    pub matched: Match,
    /// The utterances around it.
    pub neighbors: Vec<Arc<Utterance>>,
}

impl Found {
    pub(crate) fn new(state: &Arc<Conversation>, utterance: Arc<Utterance>, recency: f64) -> Self {
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

    /// Returns the most bytes that the match takes in an answer.
    fn answer_bytes(&self) -> usize {
        let terms: usize = self.matched.terms.iter().map(|term| term.len() + 8).sum();
        let terms = terms + 16 * self.matched.ranges.len();
        let neighbors: usize = self.neighbors.iter().map(|neighbor| neighbor.answer_bytes()).sum();
        256 + terms + self.utterance.answer_bytes() + neighbors
    }

    /// Drops the farthest neighbours until the match takes at most `bytes`, or has none left.
    fn narrow(&mut self, bytes: usize) {
        let sequence = self.utterance.sequence.get();
        while self.answer_bytes() > bytes {
            let distance = |place: &usize| self.neighbors[*place].sequence.get().abs_diff(sequence);
            let Some(farthest) = (0..self.neighbors.len()).max_by_key(distance) else { return };
            self.neighbors.remove(farthest);
        }
    }
}

/// The matches of a page, added in order.
///
/// If several conversations share an unchanged utterance, only its first match is taken.
#[derive(Debug)]
pub struct Matches {
    skip: usize,
    room: PageRoom,
    /// The utterances seen so far; `None` if a single conversation is searched, where nothing repeats.
    seen: Option<HashMap<Place, Vec<Arc<Utterance>>>>,
    /// The matches of the page.
    pub found: Vec<Found>,
    /// Whether there are further matches after the page.
    pub more: bool,
}

/// The key shared by all copies of an utterance.
type Place = (Sequence, Timestamp);

impl Matches {
    /// Starts a page of `states` conversations; the first `skip` matches are on earlier pages.
    pub fn new(states: usize, skip: usize, room: PageRoom) -> Self {
        let seen = (states > 1).then(HashMap::new);
        Self { skip, room, seen, found: Vec::new(), more: false }
    }

    /// Whether the page includes this match. It does not if the match is on an earlier page, is a copy, or is
    /// beyond the end, in which case `more` is set.
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

    /// Takes a match that is wanted, unless the page ends before it, in which case `more` is set.
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

/// Where to search: conversations, newest first.
pub struct Searched {
    /// The conversations.
    pub states: Vec<Arc<Conversation>>,
    /// The sequences to search in each.
    pub wanted: Vec<Ranges>,
}

impl Searched {
    /// Whether the search covers a sequence of the conversation at `index`.
    pub fn has(&self, index: usize, sequence: u64) -> bool {
        self.wanted[index].contains(Sequence(sequence))
    }
}

/// How new an utterance of the conversation at `index` is: above 0, and 1 for the newest of all.
pub fn recency(states: &[Arc<Conversation>], index: usize, sequence: u64) -> f64 {
    let newest = states[index].head.next.get().saturating_sub(1).max(1);
    let older = (states.len() - 1 - index) as f64;
    (older + sequence as f64 / newest as f64) / states.len() as f64
}
