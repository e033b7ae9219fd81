//! The shares of entities and words that a summary keeps.

use std::{collections::HashSet, hash::Hash, sync::Arc};

use utterd::domain::{Role, Utterance};

use crate::{
    Method, Run,
    conversations::{Conversation, dialogues, transcripts},
    entities::{content_words, entities},
    tokens,
};

const LIMITS: [u32; 2] = [300, 600];

/// Prints a table for each kind of conversation.
pub fn print(methods: &[Method], halves: bool) {
    let coding = ["pi-coding", "swe-agent", "openhands", "claude-code"];
    let kinds = [
        ("tau", transcripts(&["tau-airline"])),
        ("coding", transcripts(&coding)),
        ("LoCoMo", dialogues("locomo")),
        ("BEAM", dialogues("beam")),
    ];
    println!(
        "{:<22}{:>6}  {:<10}{:>8}{:>8}{:>8}{:>8}",
        "kept, %", "limit", "", "said", "needed", "words", "tokens"
    );
    for (name, conversations) in &kinds {
        let cut: Vec<_> = conversations.iter().filter(|one| one.cuts().next().is_some()).collect();
        let figures: Vec<Figures> = cut.into_iter().map(|one| figures(one, methods)).collect();
        print_kind(name, methods, &figures.iter().collect::<Vec<_>>());
        if halves {
            let half = |parity: usize| figures.iter().skip(parity).step_by(2).collect::<Vec<_>>();
            print_kind(&format!("{name}, one half"), methods, &half(0));
            print_kind(&format!("{name}, the other"), methods, &half(1));
        }
    }
}

/// By limit and method, of one conversation.
type Figures = Vec<Shares>;

fn figures(conversation: &Conversation, methods: &[Method]) -> Figures {
    let cells = LIMITS.into_iter().flat_map(|limit| methods.iter().map(move |method| (method.1, limit)));
    cells.map(|(run, limit)| of_conversation(conversation, run, limit)).collect()
}

fn print_kind(name: &str, methods: &[Method], figures: &[&Figures]) {
    let cells = LIMITS.into_iter().flat_map(|limit| methods.iter().map(move |method| (method.0, limit)));
    for ((method, limit), cell) in cells.zip(0..).filter(|_| !figures.is_empty()) {
        let mean = |of: fn(&Shares) -> Option<f64>| {
            mean(figures.iter().filter_map(|figures| of(&figures[cell]))).unwrap_or_default()
        };
        let title = if cell == 0 { format!("{name} ({})", figures.len()) } else { String::new() };
        let limit = if method == "this" { limit.to_string() } else { String::new() };
        println!(
            "{title:<22}{limit:>6}  {method:<10}{:>8.1}{:>8.1}{:>8.1}{:>8.0}",
            100.0 * mean(|shares| shares.said),
            100.0 * mean(|shares| shares.needed),
            100.0 * mean(|shares| shares.words),
            mean(|shares| shares.tokens),
        );
    }
}

/// What a conversation's summaries keep, averaged; `None` where there was nothing to keep.
struct Shares {
    said: Option<f64>,
    needed: Option<f64>,
    words: Option<f64>,
    tokens: Option<f64>,
}

fn of_conversation(conversation: &Conversation, run: Run, limit: u32) -> Shares {
    let cuts: Vec<Shares> =
        conversation.cuts().map(|(before, after)| of_cut(before, after, &run(before, limit))).collect();
    let mean = |of: fn(&Shares) -> Option<f64>| mean(cuts.iter().filter_map(of));
    Shares {
        said: mean(|cut| cut.said),
        needed: mean(|cut| cut.needed),
        words: mean(|cut| cut.words),
        tokens: mean(|cut| cut.tokens),
    }
}

fn of_cut(before: &[Arc<Utterance>], after: &[Arc<Utterance>], summary: &str) -> Shares {
    let told = entities(summary);
    let said = of_said(before);
    let results = before.iter().filter(|utterance| utterance.role == Role::Tool);
    let mut known = said.clone();
    results.for_each(|result| known.extend(entities(&result.content)));
    let needed: HashSet<&str> = of_said(after).intersection(&known).copied().collect();
    let users = before.iter().filter(|utterance| utterance.role == Role::User);
    let words: HashSet<String> = users.flat_map(|utterance| content_words(&utterance.content)).collect();
    Shares {
        said: share(&said, &told),
        needed: share(&needed, &told),
        words: share(&words, &content_words(summary)),
        tokens: Some(tokens(summary).into()),
    }
}

/// The entities that users and assistants wrote.
fn of_said(utterances: &[Arc<Utterance>]) -> HashSet<&str> {
    let mut found = HashSet::new();
    for utterance in utterances.iter().filter(|utterance| utterance.role != Role::Tool) {
        found.extend(entities(&utterance.content));
        utterance.tool_calls().iter().for_each(|call| found.extend(entities(&call.arguments_json)));
    }
    found
}

fn share<T: Eq + Hash>(wanted: &HashSet<T>, told: &HashSet<T>) -> Option<f64> {
    let kept = wanted.iter().filter(|one| told.contains(one)).count();
    (!wanted.is_empty()).then(|| kept as f64 / wanted.len() as f64)
}

/// `None` of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
