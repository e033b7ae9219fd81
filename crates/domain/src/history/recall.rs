//! Finds what a prompt asks for in a history.

use std::sync::Arc;

use crate::{
    Ranges, Sequence, Utterance, Window,
    context::{Found, Match, surrounding},
    recall::{Floor, Hit, Index, Query, Said, Search},
};

pub use crate::context::RECALL_PERCENT;

/// The most matches considered: more than any quote has room for.
const MATCHES: usize = 512;

/// What to recall.
#[derive(Clone, Debug, PartialEq)]
pub struct Recall {
    /// What to look for.
    pub prompt: String,
    /// The maximum number of matches; `None` means as many as fit.
    pub matches: Option<usize>,
    /// The maximum share of the byte and token limits, in percent; of 8,000 tokens if tokens are unlimited.
    pub percent: u32,
    /// The least relevance of a match, from 0 to 1; by default, that of [`Floor::of_recall`].
    pub min_relevance: Option<f64>,
}

/// A history to search.
pub struct Searched {
    utterances: Vec<Arc<Utterance>>,
    search: Search,
    floor: Floor,
}

impl Searched {
    /// What is said in `window`, for a search; `None` if the prompt asks for nothing that was said.
    pub fn of(window: &Window, recall: &Recall) -> Option<Self> {
        let floor = Floor::of_recall(&recall.prompt, recall.min_relevance)?;
        let utterances: Vec<_> = window.iter().cloned().collect();
        let mut index = Index::new();
        index.extend(utterances.iter().map(|utterance| Said::from(&**utterance)));
        Some(Self { utterances, search: Search::new(Query::new(&recall.prompt), vec![index]), floor })
    }

    /// The utterances among `wanted` that say most about the prompt, best first.
    pub fn matches(&self, wanted: &Ranges) -> Vec<Match> {
        let eligible = |hit: &Hit| self.floor.admits(hit) && wanted.contains(Sequence(hit.sequence));
        let hits = self.search.hits(eligible, 0..MATCHES);
        if !self.floor.is_reached(&hits) {
            return Vec::new();
        }
        let mut matcher = self.search.matched();
        let mut matching = |hit: &Hit| {
            let found = self.utterances.partition_point(|said| said.sequence.get() < hit.sequence);
            let utterance = self.utterances.get(found)?.clone();
            Some(Match {
                matched: matcher.of(&utterance.content).ranges,
                around: surrounding(&self.utterances, &utterance),
                found: Found { utterance, source: None, quoted: Vec::new() },
            })
        };
        hits.iter().filter_map(&mut matching).collect()
    }
}
