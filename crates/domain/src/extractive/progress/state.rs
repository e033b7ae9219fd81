//! The lines on where things stand: the goal, the last check, the last error, and what the newest changes were for.

use std::cmp::Reverse;

use crate::{
    TokenCounter,
    extractive::{
        pool::Check,
        progress::fitting::{fitting, ordered},
        sentence::{CHECK, ERROR, GOAL, LineKind, OUTDATED, Part, SOLVED, STEPS, Sentence},
        text::clip::fitted,
    },
};

/// The most steps listed.
const MOST_STEPS: usize = 8;
/// A check that passed gets at most this share of the room for checks if there is an error, in percent.
const PASSED_PERCENT: u32 = 60;

/// The line of the goal: its heaviest parts that fit, in the order said.
pub(in crate::extractive) fn goal(parts: &[Part], room: u32, counter: &dyn TokenCounter) -> Vec<Sentence> {
    let ended = |part: &Part| Part { text: ended(&part.text).into(), ..part.clone() };
    let parts: Vec<Part> = parts.iter().map(ended).collect();
    let order = ordered(parts.len(), |at| Reverse(parts[at].weight));
    let line = |chosen: &[usize]| {
        let parts: Vec<Part> = chosen.iter().map(|at| parts[*at].clone()).collect();
        Sentence::listed(LineKind::Said, GOAL, &parts, 0, counter)
    };
    let fitting = fitting(order, usize::MAX, room, |at| parts[at].text.len(), line);
    let clipped = || {
        let first = parts.first()?;
        let (text, _) = fitted(&format!("{GOAL} "), &first.text, room, counter)?;
        let text = text.trim_end().strip_prefix(GOAL)?.trim_start().into();
        Some(Sentence::listed(LineKind::Said, GOAL, &[Part { text, ..first.clone() }], 0, counter))
    };
    fitting.or_else(clipped).into_iter().collect()
}

/// A sentence with a mark at its end.
fn ended(text: &str) -> String {
    let text = text.trim_end_matches(' ');
    match text.ends_with(['.', '!', '?', '…', ':', '。', '！', '？', '؟', '।', '۔', ')', '"', '”'])
    {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// The lines of the last check (a test or a build, if there is one) and of the last failure that is not that check: one
/// that no later call solved, or else, if that check passed, one that is told as solved.
pub(in crate::extractive) fn checks(
    checks: &[Check],
    room: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let is_check = |check: &&Check| check.head == CHECK;
    let newest = |test: bool| checks.iter().rposition(|check| is_check(&check) && check.is_test == test);
    let last = newest(true).or_else(|| newest(false));
    let failure = |solved: bool| {
        let is_failure = |check: &Check| check.failed && check.solved == solved;
        checks.iter().rposition(is_failure).filter(|at| Some(*at) != last)
    };
    let failed = last.is_some_and(|at| checks[at].failed);
    // what is wrong now counts more than what was
    let error = failure(false).or_else(|| failure(true).filter(|_| !failed));
    let mut left = room;
    let mut write = |at: Option<usize>, room: u32| {
        let check = &checks[at?];
        // a check that is not the last one is an error
        let told =
            || check.text.strip_prefix(OUTDATED).unwrap_or(&check.text).replacen(" → error: ", ": ", 1);
        let (head, told) = match (at == last, check.solved) {
            (true, _) => (CHECK, check.text.to_string()),
            (_, false) => (ERROR, told()),
            (_, true) => (ERROR, format!("{SOLVED}{}", told())),
        };
        let (text, tokens) = fitted(&format!("{head} "), &told, room.min(left), counter)?;
        left -= tokens;
        let line = Sentence::plain(LineKind::Said, check.sequence, text.into(), 0, tokens);
        Some(Sentence { result: check.result, ..line })
    };
    let percent = if failed || error.is_none() { 100 } else { PASSED_PERCENT };
    let share = room / 100 * percent + room % 100 * percent / 100;
    [write(last, share), write(error, room)].into_iter().flatten().collect()
}

/// The line of the newest steps that fit, in order.
pub(in crate::extractive) fn steps(steps: &[Part], room: u32, counter: &dyn TokenCounter) -> Vec<Sentence> {
    let mut newest: Vec<Part> = Vec::new();
    for step in steps.iter().rev() {
        if newest.len() < MOST_STEPS && !newest.iter().any(|other| other.text == step.text) {
            newest.push(step.clone());
        }
    }
    newest.reverse();
    let line = |from: usize| Sentence::listed(LineKind::Said, STEPS, &newest[from..], 0, counter);
    (0..newest.len()).map(line).find(|line| line.tokens <= room).into_iter().collect()
}
