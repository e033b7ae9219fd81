//! Merging matches by words and by meaning into one order.

use std::{collections::HashMap, sync::Arc};

use utterd_domain::{
    Conversation,
    recall::{
        Hit,
        hybrid::{Mixed, Place, Similar, Worded, mix},
    },
};

/// Returns the best `most` of `hits` and `similar`, for the conversations in `states`.
pub fn mixed(hits: Vec<Hit>, similar: &[Similar], states: &[Arc<Conversation>], most: usize) -> Vec<Hit> {
    let searched = states.iter().map(|state| state.head.stored as usize).sum();
    let place = |hit: &Hit| Place { index: hit.index, sequence: hit.sequence };
    let worded = |hit: &Hit| Worded { place: place(hit), score: hit.score, relevance: hit.relevance };
    let worded: Vec<_> = hits.iter().map(worded).collect();
    let recency: HashMap<Place, f64> = hits.iter().map(|hit| (place(hit), hit.recency)).collect();
    let hit = |Mixed { place, score, relevance }| {
        let recency = recency.get(&place).copied().unwrap_or_else(|| age(place, states));
        Hit { index: place.index, sequence: place.sequence, score, recency, relevance }
    };
    mix(&worded, similar, searched, most).into_iter().map(hit).collect()
}

/// Returns how new an utterance without any words of the prompt is: above 0, and 1 for the newest.
fn age(place: Place, states: &[Arc<Conversation>]) -> f64 {
    let newest = states[place.index].head.next.get().saturating_sub(1).max(1);
    let older = (states.len() - 1 - place.index) as f64;
    (older + place.sequence as f64 / newest as f64) / states.len() as f64
}
