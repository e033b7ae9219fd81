//! The summariser that needs no model: it takes sentences out of what was said.
//!
//! Pure, deterministic, and linear in what it reads; of long content it reads the two ends.
//! A summary is a sequence of lines, each of one [`Sentence`]:
//!
//! ```text
//! User: I need to change my flight on May 27.
//! Assistant called find_flight({"from":"DEN","to":"IAH"}) → error: no direct flight
//! ```
//!
//! Each line starts with a letter and ends with a line break that no white space precedes.
//! No pre-token of o200k, cl100k, p50k or r50k reaches across such a line's end, so the
//! tokens of lines add up exactly, and a summary never has to be counted anew.

mod calls;
mod choose;
mod focus;
mod lines;
mod split;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use std::sync::Arc;

use crate::domain::{
    Sequence, TokenCounter, Utterance,
    extractive::{
        choose::{Pool, Weighed, Worth},
        lines::Lines,
    },
};

pub use focus::Focus;

/// Clipped shorter than this, in bytes, a line is left out.
const LEAST_BYTES: usize = 12;

/// One line of a summary: who said it, and the sentence; or a tool call and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The utterance that it is taken from; for a tool call, the one that made the call.
    /// (A call's line may quote the result: both are of one unit, and are forgotten together.)
    pub sequence: Sequence,
    /// The line, `\n` at its end and nowhere else.
    pub text: Box<str>,
    /// Exact tokens of `text`.
    pub tokens: u32,
    /// What it was worth among the sentences it was taken from; the more, the longer it stays.
    pub weight: u32,
}

/// The sentences of `source` that tell most in at most `budget` tokens, in the order said.
///
/// - Identifiers, paths, amounts, dates, decisions, errors, questions and the user's own
///   words go first; greetings and acknowledgements, repetitions and fenced code are left out.
/// - A tool call is one line with its outcome; the inside of its result is not read (seed 003).
/// - Forgotten utterances, those kept aside, and head instructions give nothing.
/// - When no sentence fits, the best is clipped.
/// - Only the sentences that are about to be taken are counted.
pub fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let mut lines = Lines::of(source);
    let mut pool = Pool::default();
    lines.retain(|said, worth| pool.add(said, worth, focus));
    let mut weighed = pool.weighed();
    let write = |at: usize, limit: usize| -> (Box<str>, u32) {
        let text = lines.written(at, limit);
        let tokens = counter.count(&text);
        (text.into(), tokens)
    };
    let sentence = |at: usize, weighed: &Weighed, (text, tokens): (Box<str>, u32)| Sentence {
        sequence: lines.sequence(at),
        text,
        tokens,
        weight: weighed.weight(at),
    };

    let mut written: Vec<Option<(Box<str>, u32)>> = vec![None; lines.count()];
    let chosen = weighed.choose(budget, |at| written[at].insert(write(at, usize::MAX)).1);
    let taken: Vec<_> =
        chosen.into_iter().filter_map(|at| Some(sentence(at, &weighed, written[at].take()?))).collect();
    match weighed.best() {
        Some(best) if taken.is_empty() => {
            let clipped = fit(lines.said(best).len(), budget, |limit| write(best, limit));
            clipped.map(|text| sentence(best, &weighed, text)).into_iter().collect()
        }
        _ => taken,
    }
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
