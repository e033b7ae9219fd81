//! Whom the summary of a conversation between two people quotes.

use std::sync::Arc;

use utterd::domain::Utterance;

use crate::{
    Method, Run,
    conversations::{Conversation, dialogue, lines, pieces},
    halves::{NAMES, parts},
    kept::mean,
    table::{Table, percent},
    this,
};

/// The minimum share of the lines for the person who is quoted less.
const LEAST: f64 = 0.3;

/// The rivals that quote both.
const QUOTING: [&str; 3] = ["LEAD", "LONGEST", "TextRank"];

/// Prints how many summaries quote both.
pub fn print(rivals: &[Method]) {
    let columns = ["talks", "both quoted, %", "the lesser's lines, %", "talks with ≥ 30 %, %"];
    let mut table = Table::new("two people").columns(columns);
    let long = pieces("locomo", &[60, 80, 100]);
    let short: Vec<Conversation> = lines("summaries/dialogsum-dev.jsonl").iter().map(dialogue).collect();
    for (name, talks, limit) in [("LoCoMo", &long, 300), ("DialogSum", &short, 60), ("DialogSum", &short, 45)]
    {
        let talks: Vec<&[Arc<Utterance>]> =
            talks.iter().map(|talk| &*talk.0).filter(|talk| pair(talk).is_some()).collect();
        let shares = |run: Run| -> Vec<f64> {
            talks.iter().filter_map(|talk| lesser(talk, &run(talk, limit))).collect()
        };
        for (part, shares) in NAMES.iter().zip(parts(&shares(this))) {
            table.row(&format!("{name} at {limit}, {part}"), row(shares));
        }
        for (method, run) in rivals.iter().filter(|(name, _)| QUOTING.contains(name)) {
            table.row(&format!("{name} at {limit}, {method}"), row(&shares(*run)));
        }
    }
    table.row("to reach", ["", "100", "", "100"].map(str::to_owned));
    table.print();
}

fn row<'a>(shares: impl IntoIterator<Item = &'a f64>) -> [String; 4] {
    let shares: Vec<f64> = shares.into_iter().copied().collect();
    let count = |least: f64| shares.iter().filter(|share| **share >= least).count() as f64;
    let mean = 100.0 * mean(shares.iter().copied()).unwrap_or_default();
    let talks = shares.len();
    [
        talks.to_string(),
        percent(count(f64::MIN_POSITIVE), talks),
        format!("{mean:.1}"),
        percent(count(LEAST), talks),
    ]
}

/// The names of the speakers, if there are two.
fn pair(talk: &[Arc<Utterance>]) -> Option<[&str; 2]> {
    let mut names: Vec<&str> = talk.iter().filter_map(|utterance| utterance.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.try_into().ok()
}

/// The share of the quoting lines that quotes the person who is quoted less.
fn lesser(talk: &[Arc<Utterance>], summary: &str) -> Option<f64> {
    let quotes = |name: &str| summary.lines().filter(|line| quotes(line, name)).count();
    let [one, other] = pair(talk)?.map(quotes);
    Some(one.min(other) as f64 / (one + other).max(1) as f64)
}

fn quotes(line: &str, name: &str) -> bool {
    line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "))
}
