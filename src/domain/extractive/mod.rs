//! The summariser that needs no model: it selects lines from what was said.
//!
//! Pure, deterministic, and linear in what it reads; of long content it reads only the two ends. A summary is
//! a sequence of lines, each a [`Sentence`], of four kinds ([`LineKind`]) in this order:
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
//! 1. Calls that changed something, with their identifying argument and their outcome.
//! 2. Sentences, and calls that changed nothing.
//! 3. The ledger: identifiers, amounts and dates that the lines above do not mention, grouped by who brought
//!    them up. What a call returned is listed under the argument it was called with. A number keeps the word
//!    that says what it is.
//! 4. What is open: asked, promised, failed.
//!
//! | Step | File |
//! |---|---|
//! | candidates: from utterances, from earlier lines | `source`, `pool` |
//! | sentences; words and their weights; identifiers and numbers with their labels | `split`, `marks`, `words`, `facts` |
//! | calls: what they change, the identifying argument, the outcome | `effects`, `arguments`, `calls` |
//! | sharing out the budget | `compose` |
//! | choosing sentences and facts; lines of changes; what is open | `choose`, `ledger`, `acts`, `open` |
//! | conversations between people | `people` |
//! | the kind of talk, the caller's focus, what is still being talked about | `focus` |
//!
//! Each line starts with a letter and ends with a line break that no white space precedes. No pre-token of
//! o200k, cl100k, p50k or r50k crosses such a line end, so the lines' token counts add up exactly and a
//! summary never has to be recounted.

mod acts;
mod arguments;
mod calls;
mod choose;
mod clip;
mod compose;
mod cues;
mod effects;
mod ending;
mod facts;
mod focus;
mod goal;
mod ledger;
mod marks;
mod matter;
mod open;
mod outcome;
mod people;
mod pool;
mod records;
mod root;
mod runs;
mod salience;
mod sentence;
mod share;
mod source;
mod split;
mod spoken;
mod state;
mod steps;
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

/// The most informative lines of `source` that fit in `budget` tokens.
///
/// - Calls that changed something come first and get up to 45 % of the budget. Of calls with the same
///   argument, only the newest is listed; calls that do not fit are counted ("… and 3 more").
/// - Sentences get a third of the rest, or 70 % if no tool was called: the user's own words, decisions,
///   trouble and questions first. Greetings, acknowledgements, repetitions and fenced code are left out.
/// - The ledger gets what remains, and sentences get what the ledger leaves. Facts that were said rather than
///   found, that several utterances name, or that were named last come first.
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
    compose(pool, focus, budget, counter)
}

/// The title of the issue or task that a message hands over; `None` for a plain message.
pub(in crate::domain) fn issue(content: &str) -> Option<String> {
    goal::Request::issue(content)
}

/// All lines of `source`, even if it is a conversation between people.
pub(in crate::domain) fn lines(source: &[Arc<Utterance>], counter: &dyn TokenCounter) -> Vec<Sentence> {
    let mut pool = source::read(source, false, true);
    pool.only_said();
    compose(pool, &Focus::none(), u32::MAX, counter)
}
