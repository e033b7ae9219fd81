//! Contexts of real transcripts: whether a provider would accept them, and how much of each it has already
//! seen.
//!
//! Reads `transcripts` below `UTTERD_DATA` (default `../shared/data`). `cargo bench --bench contexts`
//! prints every table, `-- validity`, `-- histories` or `-- stability` one part.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A bench may end.
#![allow(dead_code)] // The test of the same name uses the rest.

#[path = "../tests/it/contexts/figures/mod.rs"]
mod figures;
#[path = "../tests/it/contexts/replay/mod.rs"]
mod replay;
#[path = "../tests/it/contexts/validator/mod.rs"]
mod validator;

use utterd::domain::{Policy, context::Format};

use figures::{histories, stability, validity};

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wants = |part: &str| asked.is_empty() || asked.iter().any(|word| word == part);
    let transcripts = replay::transcripts::all();
    if transcripts.is_empty() {
        return;
    }
    let messages: usize = transcripts.iter().map(|transcript| transcript.drafts.len()).sum();
    println!("{} transcripts, {messages} messages", transcripts.len());
    if wants("validity") {
        validity::print(
            "contexts of a window without limits, cut by the budget",
            &validity::rows(&transcripts, &Policy::SESSION),
        );
        validity::print("contexts of the default window", &validity::rows(&transcripts, &Policy::ROLLING));
    }
    if wants("histories") {
        histories::print(&histories::rows(&transcripts));
    }
    if wants("stability") {
        println!(
            "\nshare of rendered tokens that repeat the context before: at each call of the model, and behind each message;"
        );
        println!(
            "on the right the same limits evicting one at a time; transcripts with ten evictions or more"
        );
        stability::print("openai, each transcript a conversation", &transcripts, Format::OpenAiChat);
        let joined = stability::joined(&transcripts);
        stability::print("openai, the transcripts of a file one conversation", &joined, Format::OpenAiChat);
        stability::print(
            "anthropic, the transcripts of a file one conversation",
            &joined,
            Format::AnthropicMessages,
        );
    }
}
