//! Ranks the utterances for a query.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    ops::Range,
};

use super::{
    fields::{Asked, Scored, Scorer},
    index::Index,
    lookup::look_up,
    matched::Matched,
    query::Query,
    sought::{Sought, SoughtTime, rarity},
    times::{Times, When},
    weights::{
        CHANCE_UTTERANCES, ENOUGH, LACKING, NEWEST, OF_A_TOPIC, RECENCY, REPEATED_WORDS, STRICTNESS,
        SUBJECT_UTTERANCES,
    },
};
use crate::{Role, limits::DEFAULT_MIN_RELEVANCE};

/// An utterance found by a query: it contains a word of the prompt, was said by someone the prompt names or
/// at a time the prompt names, or answers a question that contains a word of the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The position of its index among those searched.
    pub index: usize,
    /// Its sequence in that conversation.
    pub sequence: u64,
    /// The ranking score: above 0, unbounded, comparable only within one search.
    pub score: f64,
    /// Its recency: above 0, and 1 for the newest utterance searched.
    pub recency: f64,
    /// How much of the prompt it covers, from 0 to 1: the share of the prompt's terms, weighted by rarity,
    /// that it or its neighbours have. If the conversation has many of them, a few suffice to cover all. The share
    /// counts for less in a prompt of one or two words, which something unrelated easily has in common.
    /// Comparable between prompts and conversations. At least [`DEFAULT_MIN_RELEVANCE`] with an identifier of the
    /// prompt that at most two utterances have.
    pub relevance: f64,
}

impl Hit {
    /// The first `most` hits of one search, in ranking order.
    pub fn first(hits: impl IntoIterator<Item = Self>, most: usize) -> Vec<Self> {
        let mut all: Vec<_> = hits.into_iter().map(|hit| Reverse(Candidate(hit))).collect();
        all.sort_unstable();
        all.into_iter().take(most).map(|Reverse(Candidate(hit))| hit).collect()
    }
}

/// What covers a prompt.
#[derive(Clone, Copy)]
struct Total {
    all: f32,
    /// The exponent of the share covered.
    strictness: f64,
}

/// The most distinct times that a search looks for: the first ones in the prompt.
const MAX_TIMES: usize = 32;

/// A query with the indexes to search.
pub struct Search {
    indexes: Vec<Index>,
    query: Query,
    terms: Vec<Sought>,
    times: Vec<SoughtTime>,
    /// The role whose words are asked for, and their factor.
    role: Option<(Role, f32)>,
    /// Whether the prompt names a topic instead of what was said.
    names_topic: bool,
    /// The most that recency can raise a score.
    recency: f64,
}

impl Search {
    /// Prepares a search of several indexes as one collection, the newest conversation first: term rarity and
    /// passage length are relative to all their utterances.
    pub fn new(query: Query, indexes: Vec<Index>) -> Self {
        let Times { named: times, is_present } = query.times();
        let terms = look_up(&query, &times, &indexes);
        let mut distinct: Vec<When> = Vec::new();
        for (_, when) in times {
            if distinct.len() < MAX_TIMES && !distinct.contains(&when) {
                distinct.push(when);
            }
        }
        let times = distinct.into_iter().map(|when| sought_time(when, &indexes)).collect();
        let is_named = indexes.iter().flat_map(|index| index.blocks()).any(|block| !block.names.is_empty());
        let (role, names_topic) = (query.role(is_named), query.asks_for_a_topic());
        let recency = if is_present { NEWEST } else { RECENCY };
        Self { indexes, query, terms, times, role, names_topic, recency }
    }

    /// The hits in `page`, ordered by score.
    ///
    /// - What `eligible` refuses is no hit, and the other scores stay the same. It is called at most once per
    ///   utterance, and only for scores that could be on the page.
    /// - At equal scores, the earlier index comes first, and within an index the newer utterance.
    pub fn hits(&self, eligible: impl Fn(&Hit) -> bool, page: Range<usize>) -> Vec<Hit> {
        let mut hits = self.hits_among(0..self.indexes.len(), eligible, page.end);
        hits.drain(..page.start.min(hits.len()));
        hits
    }

    /// The first `most` hits of some of the indexes, selected by position, as in [`hits`](Self::hits). The
    /// hits of all indexes are the [first](Hit::first) hits of all parts.
    pub fn hits_among(
        &self,
        indexes: Range<usize>,
        eligible: impl Fn(&Hit) -> bool,
        most: usize,
    ) -> Vec<Hit> {
        let asked = self.asked();
        let total = self.total();
        let mut scorer = Scorer::default();
        let mut best = Best { most, hits: BinaryHeap::new() };
        // the most that recency raises a score, with room for rounding: others need no relevance
        let most_raised = (1.0 + self.recency as f32) * 1.001;
        for number in indexes {
            for scored in scorer.score(&asked, number, &self.indexes[number], best.least()) {
                if scored.score * most_raised >= best.least() {
                    best.offer(self.hit(number, &scored, total), &eligible);
                }
            }
        }
        best.hits()
    }

    /// A matcher for what the prompt and a text have in common.
    pub fn matched(&self) -> Matched<'_> {
        Matched::new(self.query.prompt(), &self.terms)
    }

    fn asked(&self) -> Asked<'_> {
        let passages = || self.indexes.iter().flat_map(|index| index.blocks());
        let count: usize = passages().map(|block| block.passages.len()).sum();
        let length: u64 = passages().map(|block| block.length).sum();
        Asked {
            terms: &self.terms,
            times: &self.times,
            now: self.query.now(),
            role: self.role,
            recency: self.recency,
            mean: (length as f32 / count.max(1) as f32).max(1.0),
            can_repeat: self.terms.iter().map(Sought::plain).sum::<f32>() >= f32::from(REPEATED_WORDS),
        }
    }

    /// What covers the whole prompt: a few rare words that the conversation has, and the words that it lacks,
    /// of which a pasted text has so many that only some count.
    fn total(&self) -> Total {
        let count: usize = self.indexes.iter().map(Index::len).sum();
        let of = |is_known: bool, is_timely: bool| {
            let terms = self.terms.iter().filter(move |term| term.is_known() == is_known);
            terms.filter(|term| term.is_timely == is_timely).map(Sought::covering).sum::<f32>()
        };
        let rarest = rarity(count, 0);
        let times = |is_past: bool| -> f32 {
            let times = self.times.iter().filter(|time| (time.rarity < rarest) == is_past);
            times.map(|time| time.rarity).sum()
        };
        // a time that the prompt names is told by its words, or by when something was said
        let (told, untold) = (times(true).max(of(true, true)), times(false).max(of(false, true)));
        let known = (of(true, false) + told).min(ENOUGH * rarest);
        let lacking = of(false, false) + if told > 0.0 { 0.0 } else { untold };
        let all = (lacking.min(LACKING * rarest) + known).max(f32::MIN_POSITIVE);
        let telling = self.terms.iter().map(Sought::telling).sum::<f32>() + self.times.len() as f32;
        let place = (telling.round() as usize).min(STRICTNESS.len() - 1);
        // in a short conversation, hardly anything is shared by chance
        let most = if count < CHANCE_UTTERANCES { 1.0 } else { f64::MAX };
        let is_subject = |term: &Sought| {
            term.telling() > 0.0 && term.is_known() && term.asked <= rarity(count, SUBJECT_UTTERANCES)
        };
        let is_topic = self.names_topic && self.terms.iter().any(is_subject);
        let factor = if is_topic { OF_A_TOPIC } else { 1.0 };
        Total { all, strictness: factor * STRICTNESS[place].min(most) }
    }

    fn hit(&self, number: usize, scored: &Scored, total: Total) -> Hit {
        let block = &self.indexes[number].blocks()[scored.block as usize];
        let sequence = block.sequence(scored.document as usize);
        let recency = self.recency(number, sequence);
        let covered = f64::from((scored.coverage / total.all).clamp(0.0, 1.0)).powf(total.strictness);
        Hit {
            index: number,
            sequence,
            score: f64::from(scored.score) * (1.0 + self.recency * recency),
            recency,
            relevance: if scored.is_certain { covered.max(DEFAULT_MIN_RELEVANCE) } else { covered },
        }
    }

    /// How recent an utterance is among all searched, assuming that conversations follow one another and that
    /// sequences within one are evenly spaced.
    fn recency(&self, number: usize, sequence: u64) -> f64 {
        let newest = self.indexes[number].newest().unwrap_or(1).max(1) as f64;
        let older = (self.indexes.len() - 1 - number) as f64;
        (older + sequence as f64 / newest) / self.indexes.len() as f64
    }
}

fn sought_time(when: When, indexes: &[Index]) -> SoughtTime {
    let documents = || indexes.iter().flat_map(|index| index.blocks()).flat_map(|block| &block.documents);
    let count = documents().count();
    // The last session is not known yet; it is about as rare as a day.
    let having = documents().filter(|document| when.holds(document.minute, &(0..0))).count();
    let having = if when == When::LastSession { count / 16 } else { having };
    SoughtTime { when, rarity: rarity(count, having) }
}

/// The best hits so far.
struct Best {
    most: usize,
    hits: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    /// The score a hit needs to enter.
    fn least(&self) -> f32 {
        let worst = self.hits.peek().filter(|_| self.hits.len() >= self.most);
        worst.map_or(0.0, |Reverse(Candidate(hit))| hit.score as f32)
    }

    fn offer(&mut self, hit: Hit, eligible: impl Fn(&Hit) -> bool) {
        let candidate = Reverse(Candidate(hit));
        let full = self.hits.len() >= self.most;
        let enters = !full || self.hits.peek().is_some_and(|worst| candidate < *worst);
        if enters && eligible(&candidate.0.0) {
            self.hits.push(candidate);
            if full {
                self.hits.pop();
            }
        }
    }

    fn hits(self) -> Vec<Hit> {
        self.hits.into_sorted_vec().into_iter().map(|Reverse(Candidate(hit))| hit).collect()
    }
}

/// A hit, ordered so that the greater one ranks first.
struct Candidate(Hit);

impl Ord for Candidate {
    fn cmp(&self, Self(other): &Self) -> Ordering {
        let Self(hit) = self;
        (hit.score.total_cmp(&other.score))
            .then(other.index.cmp(&hit.index))
            .then(hit.sequence.cmp(&other.sequence))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}
