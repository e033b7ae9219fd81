//! Ranking by BM25.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use super::index::{Index, Posting};
use super::pieces::TermKind;
use super::terms::Reader;

/// How soon a repeated term stops adding to the score.
const K1: f64 = 1.2;
/// How much recency may raise a score: little more than a tie-break, because a stronger weight
/// costs recall.
pub const RECENCY_WEIGHT: f64 = 0.05;
/// How much an utterance's length counts against it: 0 not at all, 1 in full.
const B: f64 = 0.75;

/// What a prompt asks for: its distinct terms.
///
/// Repeating a word does not make it weigh more. A run of an unspaced script is looked for by its
/// pairs of characters, or by its only one.
#[derive(Clone, Debug, Default)]
pub struct Query {
    terms: Vec<QueryTerm>,
}

#[derive(Clone, Debug)]
struct QueryTerm {
    text: String,
    written: String,
    /// For a part of an identifier: the place of the whole.
    whole: Option<usize>,
}

/// An utterance that a query found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Which of the searched indexes holds it.
    pub index: usize,
    /// Its sequence in that conversation.
    pub sequence: u64,
    /// What it is ranked by: its relevance, raised by up to a twentieth by its recency.
    pub score: f64,
    /// How new it is: above 0, and 1 for the newest utterance searched.
    pub recency: f64,
    /// Its BM25 score: above 0, without an upper bound, comparable within one search only.
    pub relevance: f64,
    /// The prompt's words that it matches, as the prompt writes them and in its order. The parts
    /// of an identifier are named where the whole does not match.
    pub matched_terms: Vec<String>,
}

impl Query {
    /// The query of a prompt.
    ///
    /// - A prompt of stop words alone finds the utterances that have only stop words too.
    /// - A prompt without words finds nothing.
    pub fn new(prompt: &str) -> Self {
        let mut query = Self::default();
        let mut places = HashMap::new();
        let mut whole = 0;
        Reader::new().each_term(prompt, |term, written, kind| {
            if kind == TermKind::Character {
                return;
            }
            let part = kind == TermKind::Part;
            let place = *places.entry(term.to_owned()).or_insert(query.terms.len());
            if place == query.terms.len() {
                let (text, written) = (term.to_owned(), written.to_owned());
                query.terms.push(QueryTerm { text, written, whole: part.then_some(whole) });
            } else if !part {
                query.terms[place].whole = None;
            }
            if !part {
                whole = place;
            }
        });
        query
    }

    /// Whether it has no term, so that it finds nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The hits of a query that are `page` in the order of their scores.
///
/// - Utterances are scored by BM25 with k1 = 1.2, b = 0.75 and an inverse document frequency of
///   ln(1 + (N − n + 0.5) / (n + 0.5)), which is never negative.
/// - The indexes count as one collection: N, n and the mean length are those of all of them, and of
///   every utterance in them, eligible or not. So a filter selects hits and changes no score.
/// - `eligible` takes an index's place and a sequence; what it refuses is no hit. It is asked at
///   most once of each utterance, and only of those with a score that the page could hold.
/// - At equal scores the earlier index comes first, and in one index the newer utterance. Pass
///   the newest conversation first.
pub fn score(
    query: &Query,
    indexes: &[&Index],
    eligible: impl Fn(usize, u64) -> bool,
    page: Range<usize>,
) -> Vec<Hit> {
    let collection = Collection::new(query, indexes);
    let mut best = BinaryHeap::new();
    for (index, documents) in indexes.iter().enumerate() {
        for (slot, relevance) in collection.scores(index) {
            let sequence = documents.document(slot).sequence;
            let recency = recency(indexes, index, sequence);
            let candidate = Reverse(Candidate {
                score: relevance * (1.0 + RECENCY_WEIGHT * recency),
                recency,
                relevance,
                index,
                sequence,
                slot,
            });
            let full = best.len() >= page.end;
            let enters = !full || best.peek().is_some_and(|worst| candidate < *worst);
            if enters && eligible(index, sequence) {
                best.push(candidate);
                if full {
                    best.pop();
                }
            }
        }
    }
    let ranked = best.into_sorted_vec().into_iter().skip(page.start);
    ranked.map(|Reverse(candidate)| collection.hit(query, &candidate)).collect()
}

/// How new an utterance is among all that are searched: conversations are taken to follow each
/// other, the newest first in `indexes`, and the utterances of one as their sequences do.
fn recency(indexes: &[&Index], index: usize, sequence: u64) -> f64 {
    let newest = indexes[index].newest().unwrap_or(1) as f64;
    let older = (indexes.len() - 1 - index) as f64;
    (older + sequence as f64 / newest) / indexes.len() as f64
}

/// Several indexes as one, seen by a query.
struct Collection<'a> {
    indexes: &'a [&'a Index],
    /// By query term.
    terms: Vec<CollectionTerm<'a>>,
    mean_length: f64,
}

struct CollectionTerm<'a> {
    inverse_document_frequency: f64,
    /// By index.
    postings: Vec<&'a [Posting]>,
}

impl<'a> Collection<'a> {
    fn new(query: &Query, indexes: &'a [&'a Index]) -> Self {
        let count = indexes.iter().map(|index| index.len()).sum::<usize>() as f64;
        let length = indexes.iter().map(|index| index.total_length()).sum::<u64>() as f64;
        let terms = query.terms.iter().map(|term| {
            let postings: Vec<_> = indexes.iter().map(|index| index.postings(&term.text)).collect();
            let having = postings.iter().map(|list| list.len()).sum::<usize>() as f64;
            let inverse_document_frequency = ((count - having + 0.5) / (having + 0.5)).ln_1p();
            CollectionTerm { inverse_document_frequency, postings }
        });
        Self { indexes, terms: terms.collect(), mean_length: length / count }
    }

    /// The utterances of one index that have a term of the query, by slot, with their scores.
    fn scores(&self, index: usize) -> impl Iterator<Item = (u32, f64)> {
        let mut scores = vec![0.0; self.indexes[index].len()];
        for term in &self.terms {
            for posting in term.postings[index] {
                let frequency = f64::from(posting.frequency);
                let length = f64::from(self.indexes[index].document(posting.slot).length);
                let damping = K1 * (1.0 - B + B * length / self.mean_length);
                scores[posting.slot as usize] +=
                    term.inverse_document_frequency * frequency * (K1 + 1.0) / (frequency + damping);
            }
        }
        (0..).zip(scores).filter(|&(_, score)| score > 0.0)
    }

    fn hit(&self, query: &Query, candidate: &Candidate) -> Hit {
        Hit {
            index: candidate.index,
            sequence: candidate.sequence,
            score: candidate.score,
            recency: candidate.recency,
            relevance: candidate.relevance,
            matched_terms: self.matched_terms(query, candidate.index, candidate.slot),
        }
    }

    fn matched_terms(&self, query: &Query, index: usize, slot: u32) -> Vec<String> {
        let matches: Vec<bool> = self
            .terms
            .iter()
            .map(|term| term.postings[index].binary_search_by_key(&slot, |posting| posting.slot).is_ok())
            .collect();
        let named = query
            .terms
            .iter()
            .enumerate()
            .filter(|&(place, term)| matches[place] && !term.whole.is_some_and(|whole| matches[whole]));
        named.map(|(_, term)| term.written.clone()).collect()
    }
}

/// An utterance with its score. The greater one ranks first.
#[derive(PartialEq)]
struct Candidate {
    score: f64,
    recency: f64,
    relevance: f64,
    index: usize,
    sequence: u64,
    slot: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.score.total_cmp(&other.score))
            .then(other.index.cmp(&self.index))
            .then(self.sequence.cmp(&other.sequence))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Candidate {}
