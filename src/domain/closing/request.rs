//! Which of the lines says what the conversation is about.

use std::cmp::Reverse;

use crate::domain::closing::{
    english::{Word, plans, prepares, shouts, takes_leave},
    headline::{LEAST_WORDS, requests, words_of},
    material::{Line, Speaker},
};

/// The request stands among the first so many utterances of the user's that tell anything.
const OPENING_UTTERANCES: usize = 3;
/// What came of it stands in the last so many of the assistant's that tell anything.
const CLOSING_UTTERANCES: usize = 4;
/// For a sentence that asks for something.
const ASKING_BONUS: u32 = 30;
/// For a sentence that says that something was done, or could not be.
const OUTCOME_BONUS: u32 = 28;
/// For every utterance further from the end.
const STEP: u32 = 8;
/// For every utterance further from the start.
const LATER: u32 = 20;
/// For every line deeper in a long utterance, up to [`MOST_DEEP`]: rules and examples come at its end.
const DEEPER: u32 = 3;
const MOST_DEEP: usize = 10;
/// A request's identifiers make it no more of a request.
const MOST_REQUEST: u32 = 60;
/// What is so much less likely to be the request may still give the title.
const NEAR: u32 = 24;
/// Nor are details an outcome.
const MOST_OUTCOME: u32 = 24;

/// The place of the user's main request: of what the user said first, the line that asks and
/// weighs most, among those that are long enough for a title, or among all.
pub(super) fn request(lines: &[Line]) -> Option<usize> {
    let users = lines.iter().enumerate().filter(|(_, line)| line.speaker == Speaker::User && !line.is_call);
    let openings = placed(users).take_while(|opening| opening.step < OPENING_UTTERANCES);
    first_greatest(openings.map(|opening| (asked(opening), opening.at)))
}

/// What a title may be taken from: the lines that a request may stand in, the likeliest first.
pub(super) fn openings(lines: &[Line]) -> Vec<&Line> {
    let users = lines.iter().enumerate().filter(|(_, line)| line.speaker == Speaker::User && !line.is_call);
    let openings = placed(users).take_while(|opening| opening.step < OPENING_UTTERANCES);
    let mut ranked: Vec<_> = openings.map(|opening| (asked(opening), opening.line)).collect();
    ranked.sort_by_key(|(rank, _)| Reverse(*rank));
    let best = ranked.first().map_or(0, |(rank, _)| rank.1);
    ranked.into_iter().filter(|(rank, _)| rank.1 + NEAR >= best).map(|(_, line)| line).collect()
}

/// How much a line is like a request.
fn asked(Placed { step, place, line, .. }: Placed<'_>) -> (bool, u32) {
    let asks = line.asks() || requests(&line.said);
    let weight = line.weight.min(MOST_REQUEST) + if asks { ASKING_BONUS } else { 0 };
    let weight = if prepares(&line.said) || shouts(&line.said) { weight / 2 } else { weight };
    let later = LATER * step as u32 + DEEPER * place.min(MOST_DEEP) as u32;
    (words_of(&line.said) >= LEAST_WORDS, weight.saturating_sub(later))
}

/// What came of it, said behind `first`: the place of a statement of the assistant's; without one
/// that of a question or a call; or whatever was said last.
pub(super) fn outcome(lines: &[Line], first: usize) -> Option<usize> {
    let behind = |fits: &dyn Fn(&Line) -> bool| {
        let those = lines.iter().enumerate().skip(first + 1).rev().filter(|(_, line)| fits(line));
        let endings = placed(those).take_while(|ending| ending.step < CLOSING_UTTERANCES);
        first_greatest(endings.map(|ending| (result(ending), ending.at)))
    };
    let is_assistant = |line: &Line| line.speaker == Speaker::Assistant;
    behind(&|line| is_assistant(line) && !line.is_call && !line.asks() && !takes_leave(&line.said))
        .or_else(|| behind(&|line| is_assistant(line)))
        .or_else(|| behind(&|_| true))
}

/// How much a line is like an outcome.
fn result(Placed { step, line, .. }: Placed<'_>) -> u32 {
    let statement = line.said.split_once([':', ';']).map_or(line.said.as_str(), |(statement, _)| statement);
    let settles = statement.split_whitespace().any(|word| Word::of(word).settles());
    let settles = settles && !plans(&line.said);
    let weight = line.telling().min(MOST_OUTCOME);
    let weight =
        if plans(&line.said) { weight / 2 } else { weight } + if settles { OUTCOME_BONUS } else { 0 };
    (1 + STEP * CLOSING_UTTERANCES as u32 + weight).saturating_sub(STEP * step as u32)
}

/// A line with where it stands.
#[derive(Clone, Copy)]
struct Placed<'a> {
    /// How many utterances come before its own.
    step: usize,
    /// How many lines of its own come before it.
    place: usize,
    /// Its index.
    at: usize,
    line: &'a Line,
}

fn placed<'a>(lines: impl Iterator<Item = (usize, &'a Line)>) -> impl Iterator<Item = Placed<'a>> {
    let mut before: Option<Placed<'a>> = None;
    lines.map(move |(at, line)| {
        let (step, place) = match before {
            None => (0, 0),
            Some(before) if before.line.sequence == line.sequence => (before.step, before.place + 1),
            Some(before) => (before.step + 1, 0),
        };
        *before.insert(Placed { step, place, at, line })
    })
}

fn first_greatest<R: PartialOrd>(ranked: impl Iterator<Item = (R, usize)>) -> Option<usize> {
    let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, at)| at)
}
