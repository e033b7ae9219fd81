//! ROUGE-1 against summaries that people wrote.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    Method, Run,
    conversations::{Conversation, dialogue, lines, meeting},
    halves::{NAMES, parts},
    kept::mean,
    table::Table,
    this,
};

/// A dialogue and a person's summary of it.
struct Pair {
    dialogue: Conversation,
    reference: String,
}

/// Prints a table of both sets.
pub fn print(rivals: &[Method]) {
    let names = NAMES.into_iter().chain(rivals.iter().map(|rival| rival.0)).chain(["to reach"]);
    let mut table = Table::new("ROUGE-1 F, %").columns(names);
    let meetings =
        pairs("summaries/qmsum-val.jsonl", meeting, |line| &line["general_query_list"][0]["answer"]);
    let dialogues = pairs("summaries/dialogsum-dev.jsonl", dialogue, |line| &line["summary"]);
    for (name, pairs, limit, reach) in [
        ("QMSum, meetings", &meetings, 150, "≥ 27"),
        ("DialogSum", &dialogues, 60, "≥ 30"),
        ("DialogSum", &dialogues, 45, ""),
    ] {
        let of = |run: Run| -> Vec<f64> {
            pairs.iter().map(|pair| f_measure(&run(&pair.dialogue.0, limit), &pair.reference)).collect()
        };
        let ours = of(this);
        let ours = parts(&ours).map(figure).into_iter();
        let theirs = rivals.iter().map(|(_, run)| figure(&of(*run)));
        let row = ours.chain(theirs).chain([reach.to_owned()]);
        table.row(&format!("{name} ({}) at {limit}", pairs.len()), row);
    }
    table.print();
}

fn pairs(file: &str, dialogue: fn(&Value) -> Conversation, reference: fn(&Value) -> &Value) -> Vec<Pair> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pair = |line: &Value| Pair { dialogue: dialogue(line), reference: text(reference(line)) };
    lines(file).iter().map(pair).collect()
}

fn figure<'a>(shares: impl IntoIterator<Item = &'a f64>) -> String {
    format!("{:.1}", 100.0 * mean(shares.into_iter().copied()).unwrap_or_default())
}

fn f_measure(summary: &str, reference: &str) -> f64 {
    let (told, wanted) = (counts(summary), counts(reference));
    let shared: usize = told.iter().map(|(word, count)| *count.min(wanted.get(word).unwrap_or(&0))).sum();
    let all = told.values().sum::<usize>() + wanted.values().sum::<usize>();
    2.0 * shared as f64 / all.max(1) as f64
}

fn counts(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.for_each(|word| *counts.entry(word.to_lowercase()).or_insert(0) += 1);
    counts
}
