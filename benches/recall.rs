//! How well Remember's ranking finds evidence in real conversations, and what it costs.
//!
//! Reads `recall/locomo.jsonl` and `recall/beam.jsonl` below `UTTERD_DATA` (default
//! `../shared/data`), and prints recall beside that of BM25 over plain lower-cased words: the share
//! of a question's evidence among the utterances ranked first, averaged over the questions but the
//! adversarial ones.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // A bench measures time, and may end.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use utterd::domain::{
    Role,
    recall::{Index, Query, Said, score},
};

fn main() {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let folder = PathBuf::from(folder).join("recall");
    let (Some(locomo), Some(beam)) =
        (conversations(&folder.join("locomo.jsonl")), conversations(&folder.join("beam.jsonl")))
    else {
        println!("skipped: no locomo.jsonl and beam.jsonl in {}", folder.display());
        return;
    };
    println!("{:<20}{:>10}{:>12}{:>12}", "recall, %", "questions", "this", "plain BM25");
    print_recall("LoCoMo, first 10 %", &locomo, |count| count / 10);
    print_recall("LoCoMo, first 10", &locomo, |_| 10);
    print_recall("BEAM, first 10", &beam, |_| 10);
    println!();
    print_cost(&locomo);
}

struct Conversation {
    utterances: Vec<String>,
    questions: Vec<Question>,
}

struct Question {
    prompt: String,
    /// Places in the conversation.
    evidence: HashSet<usize>,
}

/// The conversations of a file, without adversarial questions; none when the file is absent.
fn conversations(path: &Path) -> Option<Vec<Conversation>> {
    let lines = std::fs::read_to_string(path).ok()?;
    let parsed = lines.lines().map(|line| conversation(&serde_json::from_str(line).unwrap()));
    Some(parsed.collect())
}

fn conversation(line: &Value) -> Conversation {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let list = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
    let utterances = list(line, "utterances");
    let places: HashMap<_, _> =
        utterances.iter().map(|utterance| text(utterance, "utterance_id")).zip(0..).collect();
    let evidence =
        |question| list(question, "evidence").iter().map(|id| places[id.as_str().unwrap()]).collect();
    let questions = list(line, "questions");
    let questions = questions.iter().filter(|question| question["category"] != "adversarial");
    Conversation {
        utterances: utterances.iter().map(|utterance| text(utterance, "content")).collect(),
        questions: questions
            .map(|question| Question { prompt: text(question, "prompt"), evidence: evidence(question) })
            .collect(),
    }
}

fn print_recall(name: &str, conversations: &[Conversation], first: impl Fn(usize) -> usize) {
    let mut ours = Vec::new();
    let mut plain = Vec::new();
    for conversation in conversations {
        let count = first(conversation.utterances.len());
        let index = index(conversation.utterances.iter());
        let words = PlainWords::new(&conversation.utterances);
        for question in &conversation.questions {
            ours.push(recall(question, ranked(&index, &question.prompt, count)));
            plain.push(recall(question, words.ranked(&question.prompt, count)));
        }
    }
    let mean = |shares: &[f64]| 100.0 * shares.iter().sum::<f64>() / shares.len() as f64;
    println!("{name:<20}{:>10}{:>12.1}{:>12.1}", ours.len(), mean(&ours), mean(&plain));
}

/// The share of a question's evidence among the utterances found.
fn recall(question: &Question, found: Vec<usize>) -> f64 {
    let hits = found.iter().filter(|place| question.evidence.contains(place)).count();
    hits as f64 / question.evidence.len() as f64
}

fn index<'a>(utterances: impl Iterator<Item = &'a String>) -> Index {
    let mut index = Index::new();
    index.extend((1..).zip(utterances).map(|(sequence, text)| said(sequence, text)));
    index
}

fn said(sequence: u64, content: &str) -> Said<'_> {
    Said { sequence, role: Role::User, name: "", minute: 0, content, calls: Vec::new() }
}

fn ranked(index: &Index, prompt: &str, count: usize) -> Vec<usize> {
    let hits = score(&Query::new(prompt), &[index], |_, _| true, 0..count);
    hits.iter().map(|hit| hit.sequence as usize - 1).collect()
}

/// BM25 over lower-cased words, neither stemmed nor stopped: what the ranking is compared with.
struct PlainWords {
    documents: Vec<HashMap<String, f64>>,
    having: HashMap<String, f64>,
    mean_length: f64,
}

impl PlainWords {
    fn new(utterances: &[String]) -> Self {
        let mut documents = Vec::new();
        let mut having = HashMap::new();
        for text in utterances {
            let mut counts = HashMap::new();
            plain_words(text).for_each(|word| *counts.entry(word).or_insert(0.0) += 1.0);
            counts.keys().for_each(|word: &String| *having.entry(word.clone()).or_insert(0.0) += 1.0);
            documents.push(counts);
        }
        let length: f64 = documents.iter().flat_map(HashMap::values).sum();
        let mean_length = length / documents.len() as f64;
        Self { documents, having, mean_length }
    }

    fn ranked(&self, prompt: &str, count: usize) -> Vec<usize> {
        let scores = self.documents.iter().map(|document| self.score(document, prompt));
        let mut ranked: Vec<(usize, f64)> = scores.enumerate().collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked.into_iter().take(count).map(|(place, _)| place).collect()
    }

    fn score(&self, document: &HashMap<String, f64>, prompt: &str) -> f64 {
        let length: f64 = document.values().sum();
        let term = |word: String| {
            let frequency = document.get(&word).copied().unwrap_or(0.0);
            let having = self.having.get(&word).copied().unwrap_or(0.0);
            let rarity = ((self.documents.len() as f64 - having + 0.5) / (having + 0.5)).ln_1p();
            let damping = 1.2 * (0.25 + 0.75 * length / self.mean_length);
            rarity * frequency * 2.2 / (frequency + damping)
        };
        plain_words(prompt).map(term).sum()
    }
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_lowercase)
}

/// What adding and searching cost, over the conversations one after the other, again and again.
fn print_cost(conversations: &[Conversation]) {
    const UTTERANCES: usize = 10_000;
    let utterances = || conversations.iter().flat_map(|one| &one.utterances).cycle().take(UTTERANCES);
    let questions: Vec<&Question> = conversations.iter().flat_map(|one| &one.questions).collect();
    let bytes: usize = utterances().map(String::len).sum();
    let building = fastest(|| index(utterances()).len());
    let adding = fastest(|| {
        let mut index = Index::new();
        utterances().zip(1..).for_each(|(text, sequence)| index.extend([said(sequence, text)]));
        index.len()
    });
    let index = index(utterances());
    let searching =
        fastest(|| questions.iter().map(|question| ranked(&index, &question.prompt, 10).len()).sum());
    println!("{UTTERANCES} LoCoMo utterances of {} bytes on average", bytes / UTTERANCES);
    println!("  adding all  {:>8.2} µs an utterance", micros(building, UTTERANCES));
    println!("  adding each {:>8.2} µs an utterance", micros(adding, UTTERANCES));
    println!("  heap        {:>8} bytes an utterance", index.heap_bytes() / UTTERANCES);
    let per_query = micros(searching, questions.len());
    println!("  searching   {per_query:>8.2} µs a query ({:.0} queries/s)", 1e6 / per_query);
}

/// The best of five runs.
fn fastest(run: impl Fn() -> usize) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    };
    (0..5).map(timed).min().unwrap_or_default()
}

fn micros(duration: Duration, runs: usize) -> f64 {
    duration.as_secs_f64() * 1e6 / runs as f64
}
