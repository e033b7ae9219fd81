//! How well Remember's ranking finds what was said, and what that costs: `cargo bench --bench recall`.
//!
//! Reads every file of `recall` below `UTTERD_DATA` (default `../shared/data`) and the sets of
//! `tests/it/recall/golden`, and ranks each with the same configuration:
//!
//! - *evidence*: of the utterances that answer a question, the share among the first ten, averaged over the
//!   questions (recall@10), and how high they rank (nDCG@10). Adversarial questions, which nothing answers,
//!   are left out. A question is asked at the time of its conversation's newest utterance. By role, it is the
//!   share of all evidence said by that role that is found. For comparison there is BM25 as rank_bm25 does it
//!   by default, over lower-cased words
//! - *relevance*: off-topic prompts, asked of each conversation, that find anything as relevant as Remember
//!   requires by default, and questions that do not
//! - *golden*: questions whose answer comes first, and among the first three, in each language or kind of
//!   text
//! - *cost*: the time to make, search, write and read an index, and its size
//! - *engine*: calls of the engine over the memory store and over fjall, in this process
//! - *million*: a search over the million utterances of a recipient, in their indexes
//!
//! `-- evidence` and the like print one part. Times depend on this machine and moment: nothing fails because
//! of them.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // A bench measures time, and can panic.

mod conversations;
mod cost;
mod engine;
mod evidence;
mod golden;
mod million;
mod okapi;
mod relevance;
mod served;
mod table;
mod timed;

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PARTS: [&str; 6] = ["evidence", "relevance", "golden", "cost", "engine", "million"];

fn main() {
    // cargo passes a flag of its own
    let words: Vec<String> = std::env::args().map(|word| word.trim_start_matches("--").to_owned()).collect();
    let named: Vec<&str> = PARTS.into_iter().filter(|part| words.iter().any(|word| word == part)).collect();
    let parts = if named.is_empty() { PARTS.to_vec() } else { named };
    let files = conversations::files();
    let chat = files.iter().find(|file| file.name.starts_with("locomo"));
    for part in parts {
        match (part, chat) {
            ("evidence", _) => evidence::print(&files),
            ("relevance", _) => relevance::print(&files),
            ("golden", _) => golden::print(),
            ("cost", Some(chat)) => cost::print(chat),
            ("engine", Some(chat)) => engine::print(chat),
            ("million", Some(_)) => million::print(&files),
            _ => println!("{part} is skipped: it takes the texts of LoCoMo"),
        }
    }
}
