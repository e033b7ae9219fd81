//! Summaries, to be read.

use crate::{
    conversations::{dialogues, transcripts},
    this, tokens,
};

/// Prints the summary of 300 tokens of each part of a conversation of a file: `tau-airline 7`.
pub fn print(arguments: &[String]) {
    let [file, number] = arguments else {
        println!("show FILE N: a file's name without its ending, and which of its conversations, from 1");
        return;
    };
    let conversations = match file.as_str() {
        "locomo" | "beam" => dialogues(file),
        _ => transcripts(&[file]),
    };
    let number: usize = number.parse().unwrap_or_default();
    let Some(conversation) = number.checked_sub(1).and_then(|at| conversations.get(at)) else {
        println!("{file} has {} conversations", conversations.len());
        return;
    };
    for (before, _) in conversation.cuts() {
        let summary = this(before, 300);
        println!("{} messages in {} tokens\n{summary}", before.len(), tokens(&summary));
    }
}
