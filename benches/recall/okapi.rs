//! BM25 as in rank_bm25's `BM25Okapi` with its defaults, over lower-cased words split at white space.

use std::collections::HashMap;

use crate::conversations::Conversation;

const K1: f64 = 1.5;
const B: f64 = 0.75;
/// The weight of a word in more than half of the utterances, as a share of the mean rarity.
const EPSILON: f64 = 0.25;

/// The words of a conversation.
pub struct Okapi {
    utterances: Vec<Words>,
    rarities: HashMap<String, f64>,
    mean_length: f64,
}

struct Words {
    counts: HashMap<String, f64>,
    length: f64,
}

impl Okapi {
    pub fn new(conversation: &Conversation) -> Self {
        let utterances: Vec<Words> =
            conversation.spoken.iter().map(|spoken| Words::of(&spoken.content)).collect();
        let length: f64 = utterances.iter().map(|words| words.length).sum();
        let mean_length = length / utterances.len() as f64;
        Self { rarities: rarities(&utterances), mean_length, utterances }
    }

    /// The places of at most `count` utterances that a prompt finds, the best first.
    pub fn find(&self, prompt: &str, count: usize) -> Vec<usize> {
        let scores = self.utterances.iter().map(|utterance| self.score(utterance, prompt));
        let mut ranked: Vec<(usize, f64)> = scores.enumerate().collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked.into_iter().take(count).map(|(place, _)| place).collect()
    }

    fn score(&self, utterance: &Words, prompt: &str) -> f64 {
        let damping = K1 * (1.0 - B + B * utterance.length / self.mean_length);
        let score = |word: String| {
            let count = utterance.counts.get(&word).copied().unwrap_or(0.0);
            let rarity = self.rarities.get(&word).copied().unwrap_or(0.0);
            rarity * count * (K1 + 1.0) / (count + damping)
        };
        words(prompt).map(score).sum()
    }
}

impl Words {
    fn of(text: &str) -> Self {
        let mut counts = HashMap::new();
        words(text).for_each(|word| *counts.entry(word).or_insert(0.0) += 1.0);
        Self { length: counts.values().sum(), counts }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_lowercase)
}

fn rarities(utterances: &[Words]) -> HashMap<String, f64> {
    let mut having: HashMap<String, f64> = HashMap::new();
    for word in utterances.iter().flat_map(|words| words.counts.keys()) {
        *having.entry(word.clone()).or_insert(0.0) += 1.0;
    }
    let all = utterances.len() as f64;
    let rarity = |having: f64| (all - having + 0.5).ln() - (having + 0.5).ln();
    let mut rarities: HashMap<String, f64> =
        having.into_iter().map(|(word, having)| (word, rarity(having))).collect();
    let floor = EPSILON * rarities.values().sum::<f64>() / rarities.len() as f64;
    rarities.values_mut().filter(|rarity| **rarity < 0.0).for_each(|rarity| *rarity = floor);
    rarities
}
