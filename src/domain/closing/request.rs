//! Which of the lines says what the conversation is about.

use crate::domain::{
    Sequence,
    closing::{
        english::Word,
        headline::{LEAST_WORDS, requests, words_of},
        material::{Line, Speaker},
    },
};

/// The request stands among the first so many utterances of the user's that tell anything.
const OPENING_UTTERANCES: usize = 3;
/// What came of it stands in the last so many of the assistant's that tell anything.
const CLOSING_UTTERANCES: usize = 4;
/// For a sentence that asks for something.
const ASKING_BONUS: u32 = 30;
/// For a sentence that says that something was done, or could not be.
const OUTCOME_BONUS: u32 = 8;
/// For every utterance further from the end.
const STEP: u32 = 8;
/// For every utterance further from the start.
const LATER: u32 = 20;
/// A request's identifiers make it no more of a request.
const MOST_REQUEST: u32 = 60;
/// Nor are details an outcome.
const MOST_OUTCOME: u32 = 24;

/// The place of the user's main request: of what the user said first, the line that asks and
/// weighs most, among those that are long enough for a title, or among all.
pub(super) fn request(lines: &[Line]) -> Option<usize> {
    let users = lines.iter().enumerate().filter(|(_, line)| line.speaker == Speaker::User && !line.is_call);
    let openings = steps(users).take_while(|(step, ..)| *step < OPENING_UTTERANCES);
    let rank = |step: usize, line: &Line| {
        let asks = line.asks() || requests(&line.said);
        let weight = line.weight.min(MOST_REQUEST) + if asks { ASKING_BONUS } else { 0 };
        (words_of(&line.said) >= LEAST_WORDS, weight.saturating_sub(LATER * step as u32))
    };
    first_greatest(openings.map(|(step, at, line)| (rank(step, line), at)))
}

/// What came of it, said behind `first`: the place of a statement of the assistant's; without one
/// that of a question or a call; or whatever was said last.
pub(super) fn outcome(lines: &[Line], first: usize) -> Option<usize> {
    let behind = |fits: &dyn Fn(&Line) -> bool| {
        let those = lines.iter().enumerate().skip(first + 1).rev().filter(|(_, line)| fits(line));
        let endings = steps(those).take_while(|(step, ..)| *step < CLOSING_UTTERANCES);
        first_greatest(endings.map(|(step, at, line)| (result(step, line), at)))
    };
    let is_assistant = |line: &Line| line.speaker == Speaker::Assistant;
    behind(&|line| is_assistant(line) && !line.is_call && !line.asks())
        .or_else(|| behind(&is_assistant))
        .or_else(|| behind(&|_| true))
}

/// How much a line is like an outcome.
fn result(step: usize, line: &Line) -> u32 {
    let settles = line.said.split_whitespace().any(|word| Word::of(word).settles());
    let weight = line.telling().min(MOST_OUTCOME) + if settles { OUTCOME_BONUS } else { 0 };
    (1 + STEP * CLOSING_UTTERANCES as u32 + weight).saturating_sub(STEP * step as u32)
}

/// With each line how many utterances came before it.
fn steps<'a>(
    lines: impl Iterator<Item = (usize, &'a Line)>,
) -> impl Iterator<Item = (usize, usize, &'a Line)> {
    let mut before: Option<Sequence> = None;
    let mut step = 0;
    lines.map(move |(at, line)| {
        step += usize::from(before.is_some_and(|before| before != line.sequence));
        before = Some(line.sequence);
        (step, at, line)
    })
}

fn first_greatest<R: PartialOrd>(ranked: impl Iterator<Item = (R, usize)>) -> Option<usize> {
    let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, at)| at)
}
