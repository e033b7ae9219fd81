//! What summaries keep without a model, and what they cost: `cargo bench --bench summaries`.
//!
//! Reads `transcripts`, `recall` and `summaries` below `UTTERD_DATA` (default `../shared/data`).
//! Each conversation is cut after a third, a half and two thirds of its messages, between exchanges
//! and with at least 12 messages before; one longer than 120 messages is taken in pieces of 100 first.
//! What stands before the cut, without system messages, is summarised within 300 and 600 tokens.
//! Shares are averaged over the cuts of a conversation, and then over the conversations:
//!
//! - *said*: of the entities that users and assistants wrote, arguments of calls included, the share
//!   that the summary has too
//! - *needed*: of the entities before the cut, results of tools included, that users, assistants or
//!   arguments use again after it, the share that the summary has
//! - *words*: of the content words that users wrote, the share that the summary has
//!
//! An entity is, whatever the summariser takes it for ([`entities`] is the definition): a code with
//! letters and digits (`HAT084`), a number of three digits or more, a date, a time, an amount
//! (`$250`, `5%`), an e-mail address, a path or file name (`src/main.rs`), a name in snake case,
//! camel case or with `::`; not a key of JSON. A content word has four letters or more and is not among
//! the commonest of English.
//!
//! Beside it, and it with the kind of talk detected, stand, with the same lines, limits and tokens: LEAD (the first sentences), LONGEST (the
//! longest first) and TextRank. `-- kept`, `-- rouge` and `-- speed` print one part; `-- halves` adds
//! every second conversation and the rest, `-- alone` leaves the others out; `-- show FILE N` prints what the N-th one's summaries say.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used)] // A bench measures time, and may end.

mod conversations;
mod entities;
mod kept;
mod rivals;
mod rouge;
mod show;
mod speed;
#[path = "../../tests/contexts/replay/transcripts.rs"]
#[allow(dead_code, reason = "the test of contexts takes samples")]
mod transcripts;

use std::sync::Arc;

use utterd::{
    domain::{
        Encoding, Utterance,
        extractive::{Focus, summarise},
    },
    tokenizer::counter,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let wants = |part: &str| arguments.iter().any(|word| word == part);
    if wants("show") {
        return show::print(&arguments[1..]);
    }
    let all = !["kept", "rouge", "speed"].iter().any(|part| wants(part));
    let methods = if wants("alone") { &METHODS[..2] } else { &METHODS };
    if all || wants("kept") {
        kept::print(methods, wants("halves"));
    }
    if all || wants("rouge") {
        rouge::print(methods);
    }
    if all || wants("speed") {
        speed::print();
    }
}

/// What is compared.
const METHODS: [Method; 5] = [
    ("this", this),
    ("focused", focused),
    ("LEAD", rivals::lead),
    ("LONGEST", rivals::longest),
    ("TextRank", rivals::text_rank),
];

/// Its name, and what it does.
type Method = (&'static str, Run);

/// The lines of a summary of so many tokens at most.
type Run = fn(&[Arc<Utterance>], u32) -> String;

fn this(source: &[Arc<Utterance>], limit: u32) -> String {
    let sentences = summarise(source, &Focus::none(), limit, counter(Encoding::O200kBase));
    sentences.iter().map(|sentence| &*sentence.text).collect()
}

/// This, with the kind of talk detected.
fn focused(source: &[Arc<Utterance>], limit: u32) -> String {
    let sentences = summarise(source, &Focus::detect(source, &[]), limit, counter(Encoding::O200kBase));
    sentences.iter().map(|sentence| &*sentence.text).collect()
}

fn tokens(text: &str) -> u32 {
    counter(Encoding::O200kBase).count(text)
}
