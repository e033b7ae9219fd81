//! Summaries with only entities, and with some of the user's sentences too.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use utterd::domain::{Role, Utterance};

use crate::{
    entities::{content_words, entities},
    rivals::{filled, sentences},
    tokens,
};

/// With each later utterance, an entity's weight is multiplied by this.
const FADING: f64 = 0.97;
/// The weight of an entity that only a tool result names.
const FOUND: f64 = 0.3;
/// The user's sentences in the mix, in percent of the limit.
const SENTENCES_PERCENT: u32 = 30;
/// The search ends after this many entities that do not fit.
const MOST_MISSES: usize = 20;
/// The separator of entities.
const BETWEEN: &str = "; ";

/// All entities of the source, the newest and most frequent first.
pub fn bare(source: &[Arc<Utterance>], limit: u32) -> String {
    beside(String::new(), source, limit)
}

/// The user's most informative sentences, and a bare ledger of the entities that they do not contain.
pub fn mix(source: &[Arc<Utterance>], limit: u32) -> String {
    let users = source.iter().filter(|utterance| utterance.role == Role::User);
    let said = users.flat_map(|utterance| sentences(&utterance.content));
    let lines: Vec<String> = said.map(|said| format!("User: {said}\n")).collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|line| Reverse(entities(&lines[*line]).len() + content_words(&lines[*line]).len()));
    beside(filled(&lines, order, limit * SENTENCES_PERCENT / 100), source, limit)
}

/// `text`, followed by as many of the entities it lacks as fit.
fn beside(mut text: String, source: &[Arc<Utterance>], limit: u32) -> String {
    let told = text.clone();
    let told = entities(&told);
    let mut misses = 0;
    for entity in by_occurrence(source).into_iter().filter(|entity| !told.contains(entity)) {
        let length = text.len();
        text.extend([entity, BETWEEN]);
        if tokens(&text) > limit {
            text.truncate(length);
            misses += 1;
        }
        if misses > MOST_MISSES {
            break;
        }
    }
    text
}

fn by_occurrence(source: &[Arc<Utterance>]) -> Vec<&str> {
    let mut worth: HashMap<&str, f64> = HashMap::new();
    for (utterance, age) in source.iter().rev().zip(0..) {
        let calls = utterance.tool_calls().iter().flat_map(|call| entities(&call.arguments_json));
        let named = entities(&utterance.content).into_iter().chain(calls);
        let once = if utterance.role == Role::Tool { FOUND } else { 1.0 };
        named.for_each(|entity| *worth.entry(entity).or_default() += once * FADING.powi(age));
    }
    let mut found: Vec<(&str, f64)> = worth.into_iter().collect();
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    found.into_iter().map(|(entity, _)| entity).collect()
}
