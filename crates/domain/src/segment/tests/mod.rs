//! Summaries of conversations, with a real encoding.

mod forgotten;
mod imported;
mod models;
mod promises;
mod written;

use std::{collections::BTreeSet, sync::Arc};

use super::*;
use crate::{
    Ranges, Role, Sequence, Timestamp, TokenCounter, Utterance,
    extract::Line,
    limits::DEFAULT_SUMMARY_TOKENS,
    testing::{o200k, said},
};

const WORDS: [&str; 12] = [
    "invoice",
    "INV-7",
    "decided",
    "Paris",
    "error",
    "tomorrow",
    "src/main.rs",
    "okay",
    "whales",
    "$250",
    "weather",
    "thanks",
];

const DEFAULT: Option<u32> = Some(DEFAULT_SUMMARY_TOKENS);

/// With a model to wait for.
fn summary_context(limit: Option<u32>) -> SummaryContext<'static> {
    SummaryContext { limit, counter: o200k(), window: None, compacts: false, awaits: Some(Timestamp(1)) }
}

/// A model that was shown the summary up to a segment names every sequence that it was shown.
fn told_by_model(
    summary: &Summary,
    segment: &Segment,
    silent: &BTreeSet<u64>,
    with: &SummaryContext<'_>,
) -> Summary {
    let shown = summary.segments().iter().take_while(|other| other.number != segment.number);
    let mut from = segment.covers.clone();
    shown.for_each(|shown| from.union(&shown.covers));
    let told = from.sequences().filter(|sequence| !silent.contains(&sequence.get()));
    let text: String = told.map(|sequence| format!("<{sequence}>")).collect();
    // a text that says nothing is not accepted
    if text.is_empty() {
        return summary.clone();
    }
    let lines = vec![Line::quoted(&text, o200k())];
    let llm_text = LlmText { lines, model: "model".into(), prompt: 1, from };
    summary.replace_by_llm(segment.number, &llm_text, with)
}

/// An utterance of three sentences that depend on its sequence only.
fn utterance(sequence: u64, forgotten: bool) -> Arc<Utterance> {
    let word = |n: u64| WORDS[(sequence * 7 + n * 5) as usize % WORDS.len()];
    let role = if sequence % 2 == 1 { Role::User } else { Role::Assistant };
    let content =
        format!("{} for {} number {sequence}. Then the {}! {}?", word(1), word(2), word(3), word(4));
    let mut utterance = said(sequence, role, &content);
    utterance.forgotten = forgotten;
    Arc::new(utterance)
}

fn utterances(sequences: impl IntoIterator<Item = u64>) -> Vec<Arc<Utterance>> {
    sequences.into_iter().map(|sequence| utterance(sequence, false)).collect()
}

fn set(ranges: &Ranges) -> BTreeSet<u64> {
    ranges.sequences().map(Sequence::get).collect()
}

fn tells(summary: &Summary) -> BTreeSet<u64> {
    let known = summary.segments().iter().map(|segment| segment.known());
    known.flat_map(|known| set(&known)).collect()
}
