//! The summariser that needs no model: it selects lines from what was said.
//!
//! Pure, deterministic, and linear in what it reads; of long content it reads only the two ends. A summary is
//! a sequence of lines, each a [`Sentence`] of a kind ([`LineKind`]), in this order:
//!
//! ```text
//! Goal: I need to change my flight on May 27.
//! User: My user ID is omar_rossi_1241. Don't use my credit card.
//! Assistant called cancel_reservation(EHGLP3) → ok
//! Steps: cancel the reservation
//! Check: cargo test → ok: 23 passed
//! Error: find_flight(DEN): no direct flight
//! FQ8APE: HAT056; price 117; date 2024-05-27
//! Open: Assistant asked: Which card should I charge instead?
//! ```
//!
//! 1. The goal: the first request, without the template around it.
//! 2. Sentences, in the order said, and calls that changed nothing.
//! 3. Calls that changed something, with their identifying argument and their outcome.
//! 4. What the newest changes were for, the last check and the last error that nothing solved.
//! 5. The ledger: identifiers, amounts and dates that the lines above do not mention, under the object they belong to.
//! 6. What is open: a request or a question without an answer, the next step, what is left to do, failures.
//!
//! | Step | Folder or file |
//! |---|---|
//! | candidates: from utterances, from earlier lines | `source`, `pool` |
//! | sentences; words and their weights; cues of constraints, requests, refusals | `text` |
//! | calls: what they change, the identifying argument, the outcome; their lines | `tools`, `effects` |
//! | the goal, steps, checks, what is open | `progress` |
//! | names and values, and how likely each is to be needed again; the ledger | `naming` |
//! | sharing out the budget | `compose`, `share` |
//! | choosing sentences | `choose` |
//! | conversations between people | `people` |
//! | the kind of talk, the caller's focus, what is still being talked about | `focus` |
//!
//! Each line starts with a letter and ends with a line break that no white space precedes. No pre-token of
//! o200k, cl100k, p50k or r50k crosses such a line end, so the lines' token counts add up exactly and a
//! summary never has to be recounted.

mod choose;
mod compose;
mod day;
mod effects;
mod focus;
mod naming;
mod people;
mod pool;
mod progress;
mod sentence;
mod share;
mod source;
mod spoken;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod tools;
mod untold;

use std::sync::Arc;

use crate::{
    TokenCounter, Utterance,
    extractive::{compose::compose, pool::Pool},
};

pub use focus::{Focus, Kind};
pub use sentence::{Item, LineKind, Sentence};
pub(crate) use sentence::{Origin, Part};
pub(crate) use spoken::Spoken;
pub(crate) use text::{marks::asks, words::concepts};
pub(crate) use tools::told_call::{ToldCall, identifiers};
pub use untold::Untold;

/// The most informative lines of `source` that fit in `budget` tokens.
///
/// - Each section has a share of the budget (`share`); what it leaves goes to the next ones, and at last to more
///   sentences. A call that changed something is told or counted ("… and 3 more").
/// - Sentences that add nothing new are left out, and so are greetings, acknowledgements and fenced code.
/// - Facts are chosen by how likely they are to be needed again for their length (`naming::salience`). What a user
///   turned down is left out.
/// - A result of more than one short line is never quoted (seed 003); what it names can appear in the ledger.
/// - Soft-forgotten utterances, results without a call, and head instructions contribute nothing.
/// - If nothing fits, the best sentence is clipped.
pub fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    retell(&[], source, focus, budget, counter)
}

/// The most informative of `lines` that fit in `budget` tokens. Repetitions are left out even if there is
/// room, and so are open matters that have since been settled.
pub fn select<'a>(
    lines: impl IntoIterator<Item = &'a Sentence>,
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    retell(lines, &[], focus, budget, counter)
}

/// The most informative lines among `lines`, written earlier, and `source`, which was said after them.
pub fn retell<'a>(
    lines: impl IntoIterator<Item = &'a Sentence>,
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let mut lines = lines.into_iter().peekable();
    let talk = people::summarise(source, focus, budget, counter);
    let mut pool = match talk {
        Some(told) if lines.peek().is_none() => return told,
        Some(told) => Pool::of(&told),
        None => source::read(source, focus.goes_on(), false),
    };
    lines.for_each(|line| pool.add(line));
    progress::checks::date(&mut pool.checks, &pool.acts);
    compose(pool, focus, budget, counter)
}

/// The title of the issue or task that a message hands over; `None` for a plain message.
pub(crate) fn issue(content: &str) -> Option<String> {
    progress::goal::Request::issue(content)
}

/// All lines of `source`, even if it is a conversation between people.
pub(crate) fn lines(source: &[Arc<Utterance>], counter: &dyn TokenCounter) -> Vec<Sentence> {
    let mut pool = source::read(source, false, true);
    pool.only_said();
    compose(pool, &Focus::none(), u32::MAX, counter)
}
