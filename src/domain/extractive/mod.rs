//! The summariser that needs no model: it takes lines out of what was said.
//!
//! Pure, deterministic, and linear in what it reads; of long content it reads the two ends.
//! A summary is a sequence of lines, each a [`Sentence`], of four kinds ([`LineKind`]) in this order:
//!
//! ```text
//! Assistant called cancel_reservation(EHGLP3) → ok
//! User: I need to change my flight on May 27. My user ID is omar_rossi_1241.
//! Assistant called find_flight(DEN, IAH) → error: no direct flight
//! User mentioned: HAT084; refund of $250
//! FQ8APE: HAT056; HAT138; date: 2024-05-27
//! Open: Assistant: Which card should I charge instead?
//! ```
//!
//! 1. Calls that changed something, with the argument that says which and with the outcome.
//! 2. Sentences, and calls that changed nothing.
//! 3. The ledger: what the lines above do not tell of identifiers, amounts and dates, by who brought them. What a
//!    call brought stands behind what it was asked by. A number has the word that says what it is.
//! 4. What is open: asked, promised, failed.
//!
//! | Step | File |
//! |---|---|
//! | what may be told: from utterances, from lines that were written before | `source`, `pool` |
//! | sentences; words and what they are worth; identifiers and numbers with their words | `split`, `marks`, `words`, `facts` |
//! | calls: what they change, the argument that says which, the outcome | `effects`, `arguments`, `calls` |
//! | how a budget is shared out | `compose` |
//! | which sentences; which facts; lines of changes; what is open | `choose`, `ledger`, `acts`, `open` |
//! | what people say to each other | `people` |
//! | the kind of talk, the caller's focus, what is still talked about | `focus` |
//!
//! Each line starts with a letter and ends with a line break that no white space precedes.
//! No pre-token of o200k, cl100k, p50k or r50k reaches across such a line's end, so the
//! tokens of lines add up exactly, and a summary never has to be counted anew.

mod acts;
mod arguments;
mod calls;
mod choose;
mod clip;
mod compose;
mod effects;
mod facts;
mod focus;
mod ledger;
mod marks;
mod open;
mod people;
mod pool;
mod runs;
mod sentence;
mod source;
mod split;
mod spoken;
#[cfg(test)]
pub(crate) mod tests;
mod told_call;
mod untold;
mod words;

use std::sync::Arc;

use crate::domain::{
    TokenCounter, Utterance,
    extractive::{compose::compose, pool::Pool},
};

pub use focus::{Focus, Kind};
pub(in crate::domain) use sentence::Part;
pub use sentence::{Item, LineKind, Sentence};
pub(in crate::domain) use spoken::Spoken;
pub(in crate::domain) use told_call::{ToldCall, identifiers};
pub use untold::Untold;
pub(in crate::domain) use words::concepts;

/// The lines of `source` that tell most in at most `budget` tokens.
///
/// - Calls that changed something come first, and take up to 45 % of the budget. Of calls with the same argument
///   the newest is told; what has no room is counted ("… and 3 more").
/// - Sentences take a third of the rest, where no tool was called 70 %: the user's own words, decisions, trouble
///   and questions first. Greetings and acknowledgements, repetitions and fenced code are left out.
/// - The ledger takes what is left, and sentences what it leaves. First comes what was said rather than found,
///   what several utterances name, and what was named last.
/// - A result of more than one short line is never quoted (seed 003); what it names may stand in the ledger.
/// - Forgotten utterances, those kept aside, and head instructions give nothing.
/// - When nothing fits, the best sentence is clipped.
pub fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    retell(&[], source, focus, budget, counter)
}

/// Those of `lines` that tell most in at most `budget` tokens. What repeats another is left out, even when
/// there is room; what was open and is done too.
pub fn select<'a>(
    lines: impl IntoIterator<Item = &'a Sentence>,
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    retell(lines, &[], focus, budget, counter)
}

/// What tells most of `lines`, written before, and of `source`, which was said after them.
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
        None => source::read(source, focus.goes_on()),
    };
    lines.for_each(|line| pool.add(line));
    compose(pool, focus, budget, counter)
}

/// All lines of `source`, of people's talk too.
pub(in crate::domain) fn lines(source: &[Arc<Utterance>], counter: &dyn TokenCounter) -> Vec<Sentence> {
    compose(source::read(source, false), &Focus::none(), u32::MAX, counter)
}
