//! The summariser that needs no model: it takes sentences out of what was said.
//!
//! Pure, deterministic, and linear in what it reads; of long content it reads the two ends.
//! A summary is a sequence of lines, each of one [`Sentence`]:
//!
//! ```text
//! User: I need to change my flight on May 27.
//! Assistant called find_flight(DEN, IAH) → error: no direct flight
//! Assistant called get_user: gift_card_8190333; HAT084
//! Assistant: noted $250; 2024-05-27
//! ```
//!
//! The last two are of the ledger: what one utterance, or one of its calls, names and no line that was
//! chosen tells. Half of a budget goes to sentences and calls, which are chosen for the users' own words,
//! decisions, trouble and questions; the ledger follows, with what is likeliest to be needed again; where it
//! leaves room, sentences again.
//!
//! Each line starts with a letter and ends with a line break that no white space precedes.
//! No pre-token of o200k, cl100k, p50k or r50k reaches across such a line's end, so the
//! tokens of lines add up exactly, and a summary never has to be counted anew.

mod arguments;
mod calls;
mod choose;
pub(in crate::domain) mod effects;
mod focus;
mod ledger;
mod lines;
mod people;
mod sentence;
mod split;
#[cfg(test)]
pub(crate) mod tests;
mod untold;
mod words;

use std::sync::Arc;

use crate::domain::{
    TokenCounter, Utterance,
    extractive::{
        choose::{Pool, Weighed, Worth},
        ledger::ledger,
        lines::Lines,
    },
};

pub use focus::{Focus, Kind};
pub use sentence::Sentence;
pub use untold::Untold;

/// Of a budget that does not hold everything, sentences and calls take so many percent first; the ledger
/// follows, and sentences again where it leaves room.
const SENTENCES_PERCENT: u64 = 50;
/// Sentences and calls get no less than this, in tokens.
const LEAST_SENTENCES_TOKENS: u32 = 48;
/// Lines have hardly more tokens than their bytes divided by this.
const LEAST_TOKEN_BYTES: usize = 3;
/// Clipped shorter than this, in bytes, a line is left out.
const LEAST_BYTES: usize = 12;

/// The sentences of `source` that tell most in at most `budget` tokens, in the order said.
///
/// - Decisions, errors, questions and the user's own words go first; greetings and acknowledgements,
///   repetitions and fenced code are left out.
/// - Identifiers, paths, amounts and dates that these do not tell are named in lines of their own, by
///   utterance; of those that only the head of a tool's result names, the identifiers. What recurs and what
///   was named last goes first.
/// - A tool call is one line with its outcome, and so is a result that came late; a result of more than one short line is never quoted
///   (seed 003).
/// - Forgotten utterances, those kept aside, and head instructions give nothing.
/// - When no sentence fits, the best is clipped.
/// - Only the sentences that are about to be taken are counted.
pub fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    if let Some(told) = people::summarise(source, focus, budget, counter) {
        return told;
    }
    let mut lines = Lines::of(source);
    let mut pool = Pool::default();
    lines.retain(|said, worth| pool.add(said, worth, focus));
    let mut choice = Choice { weighed: pool.weighed(), written: vec![None; lines.count()], lines, counter };

    let fits = choice.lines.bytes() / LEAST_TOKEN_BYTES <= budget as usize;
    let share = if fits { 100 } else { SENTENCES_PERCENT };
    let share = (u64::from(budget) * share / 100).max(LEAST_SENTENCES_TOKENS.into()) as u32;
    let mut chosen = choice.choose(share.min(budget));
    if chosen.is_empty() {
        return choice.clipped(budget).into_iter().collect();
    }
    let mut ledger = choice.ledger(&chosen, budget);
    let rest = budget - choice.tokens(&chosen) - total(&ledger);
    let more = choice.choose(rest);
    if !more.is_empty() {
        chosen.extend(more);
        // what these tell need not stand in the ledger
        ledger = choice.ledger(&chosen, budget);
    }
    let mut taken = choice.sentences(&chosen);
    taken.extend(ledger);
    taken.sort_by_key(|sentence| sentence.sequence);
    taken
}

/// Calls `each` for every word of `text` that says something of its own, by a number that is equal for words
/// that mean the same.
pub(super) fn concepts(text: &str, mut each: impl FnMut(u32)) {
    words::scan(text, |word| {
        if word.weight > 0 {
            each(word.concept);
        }
    });
}

/// Lines, what they weigh, and the text of those that were looked at.
struct Choice<'a> {
    lines: Lines,
    weighed: Weighed,
    written: Vec<Option<(Box<str>, u32)>>,
    counter: &'a dyn TokenCounter,
}

impl Choice<'_> {
    /// The lines that tell most beside those chosen before.
    fn choose(&mut self, budget: u32) -> Vec<usize> {
        let Self { lines, weighed, written, counter } = self;
        weighed
            .choose(budget, |at| written[at].get_or_insert_with(|| write(lines, at, usize::MAX, *counter)).1)
    }

    fn ledger(&self, chosen: &[usize], budget: u32) -> Vec<Sentence> {
        ledger(&self.lines, &self.weighed, chosen, budget - self.tokens(chosen), self.counter)
    }

    fn tokens(&self, chosen: &[usize]) -> u32 {
        chosen.iter().filter_map(|at| Some(self.written[*at].as_ref()?.1)).sum()
    }

    fn sentences(&self, chosen: &[usize]) -> Vec<Sentence> {
        let mut chosen = chosen.to_vec();
        chosen.sort_unstable();
        chosen.into_iter().filter_map(|at| Some(self.sentence(at, self.written[at].clone()?))).collect()
    }

    fn sentence(&self, at: usize, (text, tokens): (Box<str>, u32)) -> Sentence {
        Sentence { sequence: self.lines.sequence(at), text, tokens, weight: self.weighed.weight(at) }
    }

    /// As much as fits of the line that tells most.
    fn clipped(&self, budget: u32) -> Option<Sentence> {
        let best = self.weighed.best()?;
        let write = |limit| write(&self.lines, best, limit, self.counter);
        Some(self.sentence(best, fit(self.lines.said(best).len(), budget, write)?))
    }
}

fn write(lines: &Lines, at: usize, limit: usize, counter: &dyn TokenCounter) -> (Box<str>, u32) {
    let text = lines.written(at, limit);
    let tokens = counter.count(&text);
    (text.into(), tokens)
}

fn total(sentences: &[Sentence]) -> u32 {
    sentences.iter().map(|sentence| sentence.tokens).sum()
}

/// The longest of `write`'s texts that has at most `budget` tokens, approached from `bytes`.
fn fit(mut bytes: usize, budget: u32, write: impl Fn(usize) -> (Box<str>, u32)) -> Option<(Box<str>, u32)> {
    while bytes >= LEAST_BYTES {
        let (text, tokens) = write(bytes);
        if tokens <= budget {
            return Some((text, tokens));
        }
        // In proportion, and an eighth less, so that a few steps suffice.
        bytes = (bytes * budget as usize / tokens as usize).min(bytes - bytes / 8 - 1);
    }
    None
}

/// Those of `sentences` that tell most in at most `budget` tokens, in the order said. What
/// repeats another is left out, even when there is room.
pub fn select(mut sentences: Vec<Sentence>, focus: &Focus, budget: u32) -> Vec<Sentence> {
    sentences.sort_by_key(|sentence| sentence.sequence);
    let mut pool = Pool::default();
    sentences.retain(|sentence| pool.add(&sentence.text, Worth::Known(sentence.weight), focus));
    let chosen = pool.weighed().choose(budget, |at| sentences[at].tokens);
    let mut keep = chosen.into_iter().peekable();
    let kept = sentences.into_iter().zip(0usize..).filter(|(_, at)| keep.next_if_eq(at).is_some());
    kept.map(|(sentence, _)| sentence).collect()
}
