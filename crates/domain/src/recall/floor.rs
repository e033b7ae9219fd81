//! How relevant a hit must be.

use utterd_text::{Cues, End, Sentence, cues, sentences, words};

use super::score::Hit;
use crate::limits::{DEFAULT_MIN_RELEVANCE, DEFAULT_RECALL_RELEVANCE};

/// A reply has at most so many words in each sentence.
const REPLY_WORDS: usize = 3;

/// The least relevance of hits, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// That of the best one: unless one has it, nothing is found.
    pub best: f64,
    /// That of each.
    pub each: f64,
}

impl Floor {
    /// The floor of a search: `given` for each hit or, by default, [`DEFAULT_MIN_RELEVANCE`] for the best one.
    pub fn of_search(given: Option<f64>) -> Self {
        Self::or(given, 0.0)
    }

    /// The floor of what a context or a history recalls for a prompt: `given` for each hit or, by default,
    /// [`DEFAULT_MIN_RELEVANCE`] for the best one and [`DEFAULT_RECALL_RELEVANCE`] for each. `None` if the prompt asks
    /// for nothing that was said.
    pub fn of_recall(prompt: &str, given: Option<f64>) -> Option<Self> {
        (!is_reply(prompt)).then(|| Self::or(given, DEFAULT_RECALL_RELEVANCE))
    }

    fn or(given: Option<f64>, each: f64) -> Self {
        let by_default = Self { best: DEFAULT_MIN_RELEVANCE, each };
        given.map_or(by_default, |each| Self { best: 0.0, each })
    }

    /// Whether a hit has the least relevance of each.
    pub fn admits(&self, hit: &Hit) -> bool {
        hit.relevance >= self.each
    }

    /// Whether one of the hits has the least relevance of the best.
    pub fn is_reached(&self, hits: &[Hit]) -> bool {
        hits.iter().any(|hit| hit.relevance >= self.best)
    }
}

/// Whether a text is a few words of thanks, greeting, consent or refusal: they neither ask nor tell anything.
fn is_reply(text: &str) -> bool {
    let is_brief = |one: &Sentence<'_>| {
        let found = cues(one.text);
        let is_kind = [Cues::COURTESY, Cues::AFFIRMS, Cues::DENIES].into_iter().any(|cue| found.has(cue));
        let words = words(one.text).take(REPLY_WORDS + 1).count();
        is_kind && one.ends != End::Question && words <= REPLY_WORDS
    };
    let sentences = sentences(text);
    !sentences.is_empty() && sentences.iter().all(is_brief)
}
