//! The lines for calls that changed something, each with its identifying argument and its outcome.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::{
    TokenCounter,
    extractive::{
        clip::fold,
        pool::{Act, done, line},
        sentence::{LineKind, Part, Sentence, total},
    },
};

/// When room is short: the most bytes shown of a call that failed or has no identifying argument, and of its
/// outcome.
const BRIEF_BYTES: usize = 80;
/// Separates a call from its outcome.
const OUTCOME: &str = ") → ";
/// The largest share of a budget for acts, in percent.
const MOST_PERCENT: u64 = 45;

/// The lines of `acts`, which are in call order, within a share of `budget`.
///
/// Of calls repeated with the same argument, only the newest is listed. If the full lines do not all fit, the
/// calls that succeeded are grouped by tool; if the groups do not fit either, the oldest calls are only
/// counted, together with those already counted in `left_out`, by head.
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

/// The identifying arguments, grouped by caller and tool.
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

/// Keeps the last of the calls with the same tool and argument, at the last one's position.
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

/// As many of the newest parts as fit, and the number left out, including the `before` left out earlier.
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
    // an item is at least one token
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
