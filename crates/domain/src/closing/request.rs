//! Finds the line that says what the conversation is about.

use std::cmp::Reverse;

use crate::closing::{
    english::{Word, plans, prepares, shouts, takes_leave},
    headline::{LEAST_WORDS, requests, words_of},
    material::{Line, Speaker},
    unspaced::is_wide,
};

/// How many of the user's first informative utterances can hold the request.
const OPENING_UTTERANCES: usize = 3;
/// How many of the assistant's last informative utterances can hold the outcome.
const CLOSING_UTTERANCES: usize = 4;
/// The bonus for a sentence that asks for something.
const ASKING_BONUS: u32 = 30;
/// The bonus for a sentence that reports that something was done or could not be.
const OUTCOME_BONUS: u32 = 28;
/// The penalty for each utterance further from the end.
const STEP: u32 = 8;
/// The penalty for each utterance further from the start.
const LATER: u32 = 20;
/// The penalty for each line further into a long utterance, up to [`MOST_DEEP`]: rules and examples come
/// last.
const DEEPER: u32 = 3;
const MOST_DEEP: usize = 10;
/// The limit for a request's weight: identifiers do not make it more of a request.
const MOST_REQUEST: u32 = 60;
/// A line that trails the likeliest request by at most this much can still give the title.
const NEAR: u32 = 24;
/// The limit for an outcome's weight: details do not make it more of an outcome.
const MOST_OUTCOME: u32 = 24;

/// The place of the user's main request: among the user's first lines, the one that asks and weighs most.
/// Lines long enough for a title go first.
pub(super) fn request(lines: &[Line]) -> Option<usize> {
    let users = lines.iter().enumerate().filter(|(_, line)| line.speaker == Speaker::User && !line.is_call);
    let openings = placed(users).take_while(|opening| opening.step < OPENING_UTTERANCES);
    first_greatest(openings.map(|opening| (asked(opening), opening.at)))
}

/// Candidates for the title: the lines that might be the request, the likeliest first.
pub(super) fn openings(lines: &[Line]) -> Vec<&Line> {
    let users = lines.iter().enumerate().filter(|(_, line)| line.speaker == Speaker::User && !line.is_call);
    let openings = placed(users).take_while(|opening| opening.step < OPENING_UTTERANCES);
    let mut ranked: Vec<_> = openings.map(|opening| (asked(opening), opening.line)).collect();
    ranked.sort_by_key(|(rank, _)| Reverse(*rank));
    let best = ranked.first().map_or(0, |(rank, _)| rank.1);
    // where no words are parted, a later line is a follow-up as often as a better phrase
    if let Some((_, first)) = ranked.iter().min_by_key(|(_, line)| line.sequence)
        && is_wide(&first.said)
    {
        let first = first.sequence;
        ranked.retain(|(_, line)| line.sequence == first);
    }
    ranked.into_iter().filter(|(rank, _)| rank.1 + NEAR >= best).map(|(_, line)| line).collect()
}

/// How much a line resembles a request.
fn asked(Placed { step, place, line, .. }: Placed<'_>) -> (bool, u32) {
    let asks = line.asks() || requests(&line.said);
    let weight = line.weight.min(MOST_REQUEST) + if asks { ASKING_BONUS } else { 0 };
    let weight = if prepares(&line.said) || shouts(&line.said) { weight / 2 } else { weight };
    let later = LATER * step as u32 + DEEPER * place.min(MOST_DEEP) as u32;
    (words_of(&line.said) >= LEAST_WORDS, weight.saturating_sub(later))
}

/// The place of the outcome after `first`: a statement of the assistant; otherwise a question or call of the
/// assistant; otherwise whatever was said last.
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

/// How much a line resembles an outcome.
fn result(Placed { step, line, .. }: Placed<'_>) -> u32 {
    let statement = line.said.split_once([':', ';']).map_or(line.said.as_str(), |(statement, _)| statement);
    let settles = statement.split_whitespace().any(|word| Word::of(word).settles());
    let settles = settles && !plans(&line.said);
    let weight = line.telling().min(MOST_OUTCOME);
    let weight =
        if plans(&line.said) { weight / 2 } else { weight } + if settles { OUTCOME_BONUS } else { 0 };
    (1 + STEP * CLOSING_UTTERANCES as u32 + weight).saturating_sub(STEP * step as u32)
}

/// A line with its position.
#[derive(Clone, Copy)]
struct Placed<'a> {
    /// The number of utterances before the line's own.
    step: usize,
    /// The number of lines before it in its own utterance.
    place: usize,
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
