//! Prints summaries for reading.

use serde_json::Value;

use crate::{
    changes::untold,
    conversations::{Conversation, Cut, dialogue, dialogues, fixtures, lines, meeting, pieces, transcripts},
    rolled::rolled,
    summarised, tokens,
};

/// Prints the summaries of a conversation of a file at its cuts, or of all of it if it is short or between
/// people.
pub fn print(arguments: &[String]) {
    let [file, number, ways @ ..] = arguments else {
        println!(
            "show FILE N [LIMIT] [rolling]: a file's name without its ending, and which of its conversations, from 1"
        );
        return;
    };
    let conversations = read(file);
    let number: usize = number.parse().unwrap_or_default();
    let Some(conversation) = number.checked_sub(1).and_then(|at| conversations.get(at)) else {
        println!("{file} has {} conversations", conversations.len());
        return;
    };
    let limit = ways.iter().find_map(|way| way.parse().ok()).unwrap_or(300);
    for cut in cuts(file, conversation, limit, ways.iter().any(|way| way == "rolling")) {
        let summary = cut.summary();
        println!("{} messages in {} tokens\n{summary}", cut.before.len(), tokens(&summary));
        untold(&cut.before, &summary).iter().for_each(|action| println!("  untold: {action}"));
    }
}

fn cuts(file: &str, conversation: &Conversation, limit: u32, rolling: bool) -> Vec<Cut> {
    match file {
        _ if rolling => rolled(conversation, limit),
        "locomo" | "qmsum-val" | "dialogsum-dev" | "talks" | "planning" => {
            let lines = summarised(&conversation.0, limit);
            vec![Cut { before: conversation.0.clone(), after: Vec::new(), lines }]
        }
        _ => conversation.cut_at_once(limit),
    }
}

fn read(file: &str) -> Vec<Conversation> {
    let people =
        |of: fn(&Value) -> Conversation| lines(&format!("summaries/{file}.jsonl")).iter().map(of).collect();
    match file {
        "locomo" => pieces(file, &[80]),
        "beam" => dialogues(file),
        "talks" | "planning" => fixtures(file),
        "qmsum-val" => people(meeting),
        "dialogsum-dev" => people(dialogue),
        _ => transcripts(&[file]),
    }
}
