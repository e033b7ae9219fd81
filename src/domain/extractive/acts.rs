//! The lines of what was done: calls that changed something, each with the argument that says which and with
//! its outcome.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{
    TokenCounter,
    extractive::{
        clip::fold,
        pool::{Act, done, line},
        sentence::{LineKind, Part, Sentence, total},
    },
};

/// Of a call that failed, or that nothing says which, and of its outcome, so many bytes are told where room is
/// short.
const BRIEF_BYTES: usize = 80;
/// Between a call and how it ended.
const OUTCOME: &str = ") → ";
/// Acts take so many percent of a budget at most.
const MOST_PERCENT: u64 = 45;

/// The lines of `acts`, which are in the order made, within a part of `budget`.
///
/// Of calls that were made again with the same argument, the newest is told. Where they do not all have room
/// with all they say, those that succeeded are told together, by tool; where that has no room either, the
/// oldest are counted only, with those that `left_out` counts by head already.
pub(super) fn written(
    acts: Vec<Act>,
    left_out: &FxHashMap<Box<str>, usize>,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let acts = newest(acts);
    let room = (u64::from(budget) * MOST_PERCENT / 100) as u32;
    let whole = || acts.iter().filter_map(|act| act.text.as_deref().map(|text| (act, text)));
    if left_out.is_empty() && acts.iter().all(|act| act.text.is_some()) {
        let lines: Vec<Sentence> = whole().map(|(act, text)| line(act, text, counter.count(text))).collect();
        if total(&lines) <= room {
            return lines;
        }
    }
    let (rest, together): (Vec<&Act>, Vec<&Act>) =
        acts.iter().partition(|act| act.failed || act.key.is_empty());
    let groups = by_tool(&together);
    let (mut left, mut lines, count) = (room, Vec::new(), groups.len() as u32);
    for ((head, parts), at) in groups.iter().zip(0..) {
        let share = left / (count - at);
        let before = left_out.get(*head).copied().unwrap_or_default();
        if let Some(line) = group(&done(head), parts, before, share, counter) {
            left -= line.tokens;
            lines.push(line);
        }
    }
    lines.extend(rest.into_iter().filter_map(|act| brief(act, &mut left, counter)));
    lines.sort_by_key(|line| line.sequence);
    lines
}

/// The arguments that say which, by who called what.
fn by_tool<'a>(acts: &[&'a Act]) -> Vec<(&'a str, Vec<Part>)> {
    let mut groups: Vec<(&str, Vec<Part>)> = Vec::new();
    for act in acts {
        let part = Part { sequence: act.sequence, result: act.result, text: act.key.clone(), weight: 0 };
        match groups.iter_mut().find(|(head, _)| *head == &*act.head) {
            Some((_, parts)) => parts.push(part),
            None => groups.push((&act.head, vec![part])),
        }
    }
    groups
}

/// The last of those with the same tool and argument, where the last was made.
fn newest(acts: Vec<Act>) -> Vec<Act> {
    let mut seen: FxHashSet<(Box<str>, Box<str>)> = FxHashSet::default();
    let mut kept: Vec<Act> = acts.into_iter().rev().collect();
    kept.retain(|act| act.key.is_empty() || seen.insert((act.head.clone(), act.key.clone())));
    kept.reverse();
    kept.sort_by_key(|act| act.sequence);
    kept
}

fn brief(act: &Act, left: &mut u32, counter: &dyn TokenCounter) -> Option<Sentence> {
    let full = act.text.as_deref()?.trim_end();
    let (call, outcome) = full.rsplit_once(OUTCOME).unwrap_or((full, ""));
    let mut text = String::new();
    fold(call, act.head.len() + BRIEF_BYTES, &mut text);
    text.push_str(OUTCOME);
    fold(outcome, BRIEF_BYTES, &mut text);
    text.push('\n');
    let line = line(act, &text, counter.count(&text));
    (line.tokens <= *left).then(|| {
        *left -= line.tokens;
        line
    })
}

/// As many of the newest as have room, and how many are left out beside those that were `before`.
fn group(
    head: &str,
    parts: &[Part],
    before: usize,
    room: u32,
    counter: &dyn TokenCounter,
) -> Option<Sentence> {
    let line = |left_out: usize| {
        Sentence::listed(LineKind::Act, head, &parts[left_out..], before.saturating_add(left_out), counter)
    };
    // an item has a token at least
    let (mut least, mut most) = (parts.len().saturating_sub(room as usize), parts.len());
    while least < most {
        let middle = least.midpoint(most);
        match line(middle).tokens <= room {
            true => most = middle,
            false => least = middle + 1,
        }
    }
    (least < parts.len()).then(|| line(least))
}
