//! What summaries keep without a model, and what they cost: `cargo bench --bench summaries`.
//!
//! Reads `transcripts`, `recall` and `summaries` below `UTTERD_DATA` (default `../shared/data`). Each
//! conversation is cut after a third, a half and two thirds of its messages, between exchanges and with at
//! least 12 messages before the cut; conversations longer than 120 messages are first split into pieces of
//! 100. Shares are averaged over the cuts of a conversation, and then over the conversations:
//!
//! - *needed*: of the entities before the cut, including those in tool results, that users, assistants or
//!   arguments use again after it, the share that the summary has
//! - *words*: of the content words that users wrote, the share that the summary has
//!
//! *At once* means that everything before the cut, except system messages, is summarised. *Rolling* means
//! that messages are memorized one by one in an engine with the default window, and the summary is read at
//! the cut; what counts as before the cut is then what has left the window.
//!
//! An entity, no matter what the summariser considers one ([`entities`] has the definition), is: a code with
//! letters and digits (`HAT084`), a number of three digits or more, a date, a time, an amount (`$250`, `5%`),
//! an e-mail address, a path or file name (`src/main.rs`), or a name in snake case, camel case or with `::`;
//! but not a JSON key. A content word has at least four letters and is not among the most common English
//! words.
//!
//! The rivals have the same number of tokens: LEAD (the first sentences), LONGEST (the longest first),
//! TextRank, a bare ledger (only entities) and *the mix*: 30 % the user's sentences, the rest a bare ledger.
//! *Kept to go on from* measures each file of transcripts: the entities that later arguments name (*needed*), the
//! user's words, changing calls with the right outcome (*done*), the words of the *goal*, the user's *constraints*,
//! the last *check* with its outcome, the last *error*, what is *open*, and *noise*: the tokens of items that no user
//! said and that nothing later uses, of which less is better. A program's template is not the user's words: lines of
//! messages that three conversations with different goals have do not count.
//!
//! Each figure of this summariser stands beside those of *one half* of the conversations, as if drawn at random, and of
//! *the other*: a change that improves only one of them fits its conversations.
//!
//! `-- going-on`, `once`, `rolling`, `changes`, `speakers`, `rouge` and `speed` print one part; `-- alone` leaves out the
//! rivals; `-- show FILE N` prints the summaries of the N-th conversation; a following `rolling` prints what a window
//! leaves of it, and a number sets the limit in tokens.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used)] // A bench measures time, and can panic.

mod actions;
mod changes;
mod conversations;
mod entities;
mod going_on;
mod halves;
mod kept;
mod ledgers;
mod rivals;
mod rolled;
mod rouge;
mod shell;
mod show;
mod speakers;
mod speed;
#[path = "../recall/table.rs"]
#[allow(dead_code, reason = "the bench of searches has more kinds of figures")]
mod table;
#[path = "../../tests/it/contexts/replay/transcripts.rs"]
#[allow(dead_code, reason = "the test of contexts takes samples")]
mod transcripts;

use std::sync::Arc;

use utterd::{
    domain::{
        Encoding, Utterance,
        extract::{Line, Wanted, items, tell},
    },
    tokenizer::counter,
};

use crate::conversations::Conversation;

const PARTS: [&str; 7] = ["going-on", "once", "rolling", "changes", "speakers", "rouge", "speed"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let asked = |part: &str| arguments.iter().any(|word| word == part);
    if asked("show") {
        return show::print(&arguments[1..]);
    }
    let all = !PARTS.iter().any(|part| asked(part));
    let rivals = if asked("alone") { &[][..] } else { &RIVALS };
    let kinds = Kinds::read();
    for part in PARTS.into_iter().filter(|part| all || asked(part)) {
        print(part, &kinds, rivals);
    }
}

fn print(part: &str, kinds: &Kinds, rivals: &[Method]) {
    match part {
        "going-on" => going_on::print(rivals),
        "once" => kept::print_at_once(kinds, rivals),
        "rolling" => kept::print_rolling(kinds, rivals),
        "changes" => changes::print(kinds, rivals),
        "speakers" => speakers::print(rivals),
        "rouge" => rouge::print(rivals),
        _ => speed::print(),
    }
}

/// The conversations that have cuts.
struct Kinds {
    service: Vec<Conversation>,
    coding: Vec<Conversation>,
}

impl Kinds {
    fn read() -> Self {
        let of = |files: &[&str]| -> Vec<Conversation> {
            let all = conversations::transcripts(files).into_iter();
            all.filter(|one| one.cuts().next().is_some()).collect()
        };
        let coding = of(&["pi-coding", "swe-agent", "openhands", "claude-code"]);
        Self { service: of(&["tau-airline"]), coding }
    }
}

/// The rivals that this summariser is compared with.
const RIVALS: [Method; 5] = [
    ("LEAD", rivals::lead),
    ("LONGEST", rivals::longest),
    ("TextRank", rivals::text_rank),
    ("a bare ledger", ledgers::bare),
    ("the mix", ledgers::mix),
];

/// A rival's name and function.
type Method = (&'static str, Run);

/// A summary of at most this many tokens.
type Run = fn(&[Arc<Utterance>], u32) -> String;

fn this(source: &[Arc<Utterance>], limit: u32) -> String {
    summarised(source, limit).iter().map(|line| &*line.text).collect()
}

fn summarised(source: &[Arc<Utterance>], limit: u32) -> Vec<Line> {
    let wanted = Wanted { budget: limit, ..Wanted::default() };
    tell(&items(source), &wanted, counter(Encoding::O200kBase))
}

fn tokens(text: &str) -> u32 {
    counter(Encoding::O200kBase).count(text)
}
