//! ROUGE-1 beside summaries that people wrote.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    Method, Run,
    conversations::{Conversation, lines, spoken},
    kept::mean,
};

/// A dialogue, what a person wrote of it, and how many tokens a summary of it may have.
struct Pair {
    dialogue: Conversation,
    reference: String,
}

/// Prints a table of both sets.
pub fn print(methods: &[Method]) {
    let names: String = methods.iter().map(|(name, _)| format!("{name:>10}")).collect();
    println!("\n{:<22}{:>6}{names}", "ROUGE-1 F, %", "limit");
    print_set("QMSum, meetings", &lines("summaries/qmsum-val.jsonl"), meeting, 150, methods);
    print_set("DialogSum", &lines("summaries/dialogsum-dev.jsonl"), dialogue, 45, methods);
}

fn print_set(name: &str, lines: &[Value], pair: fn(&Value) -> Pair, limit: u32, methods: &[Method]) {
    let pairs: Vec<Pair> = lines.iter().map(pair).collect();
    if pairs.is_empty() {
        return;
    }
    let figure = |(_, run): &Method| {
        let mean = mean(pairs.iter().map(|pair| of_pair(pair, *run, limit))).unwrap_or_default();
        format!("{:>10.1}", 100.0 * mean)
    };
    let figures: String = methods.iter().map(figure).collect();
    println!("{:<22}{limit:>6}{figures}", format!("{name} ({})", pairs.len()));
}

fn of_pair(pair: &Pair, run: Run, limit: u32) -> f64 {
    f_measure(&run(&pair.dialogue.0, limit), &pair.reference)
}

fn meeting(line: &Value) -> Pair {
    let turns = line["meeting_transcripts"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said: Vec<_> = turns.map(|turn| (text(&turn["speaker"]), text(&turn["content"]))).collect();
    Pair {
        dialogue: spoken(said.iter().map(|(name, content)| (name.as_str(), content.as_str()))),
        reference: text(&line["general_query_list"][0]["answer"]),
    }
}

fn dialogue(line: &Value) -> Pair {
    let turns = line["dialogue"].as_str().unwrap().lines().filter_map(|turn| turn.split_once(": "));
    Pair {
        dialogue: spoken(turns.map(|(name, content)| (name.trim_matches('#'), content))),
        reference: line["summary"].as_str().unwrap().to_owned(),
    }
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
