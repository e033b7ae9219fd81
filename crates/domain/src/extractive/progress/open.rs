//! What is open: questions without an answer, promises not kept, failures not made good.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use crate::{
    Sequence, TokenCounter,
    extractive::{
        choose::Voice,
        pool::{Act, Said},
        progress::{
            fitting::{fitting, ordered},
            matter::{AGREED, FAILED, LEFT, MATTER_BYTES, Matter, TODO, USER},
        },
        sentence::{BETWEEN, LineKind, Part, Sentence},
        text::{
            clip::folded,
            cues::Cues,
            words::{Cue, concepts, scan},
        },
    },
    phrases::phrases,
};

/// How many of the newest matters are considered.
const MOST_LOOKED_AT: usize = 16;
/// How many matters are listed.
const MOST: usize = 3;
/// A promise that names fewer concepts is a figure of speech.
const LEAST_CONCEPTS: usize = 3;

const HEAD: &str = "Open:";

/// How sentences that promise something begin, in lower case.
const PROMISES: [&str; 15] = phrases(
    "i'll |i will |i’ll |we'll |we will |we’ll |i'm going to |i am going to |we still need |i still need |\
    remind me |ich werde |je vais |voy a |vou ",
);

/// The matter that a sentence might leave open: a promise, or work it says is left to do.
pub(in crate::extractive) fn matter(said: &Said) -> Option<Matter> {
    let words = said.said();
    let begins = |start: &str| words.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let promises = || PROMISES.iter().any(|start| begins(start));
    if !(said.cues.has(Cues::TODO) || promises()) || about(words).len() < LEAST_CONCEPTS {
        return None;
    }
    let plain = said.text.trim_end().replace(BETWEEN, ", ");
    let text = folded(&plain, MATTER_BYTES).into();
    Some(Matter { sequence: said.sequence, result: said.result, text, rank: LEFT })
}

/// A failed call as a matter.
pub(in crate::extractive) fn failure(act: &Act) -> Matter {
    let name = act.head.split(" called ").last().unwrap_or(&act.head);
    let asked = if act.key.is_empty() { String::new() } else { format!("({})", act.key) };
    Matter {
        sequence: act.sequence,
        result: act.result,
        text: format!("{name}{asked}{FAILED}").into(),
        rank: 1,
    }
}

/// The line of those `matters` that are still open, in the order said; the newest if not all fit.
///
/// A matter is settled once a later successful call, or a later sentence that reports a decision, mentions
/// the same concepts.
pub(in crate::extractive) fn line(
    mut matters: Vec<Matter>,
    acts: &[Act],
    saids: &[Said],
    room: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    matters.sort_by_key(|matter| matter.sequence);
    // of an agent's lists, the newest alone tells what is to do
    let list = matters.iter().rfind(|matter| matter.text.starts_with(TODO)).map(|newest| newest.sequence);
    matters.retain(|matter| !matter.text.starts_with(TODO) || Some(matter.sequence) == list);
    matters.drain(..matters.len().saturating_sub(MOST_LOOKED_AT));
    let (called, spoken): (Vec<&Said>, Vec<&Said>) = saids.iter().partition(|said| said.is_call());
    let called = called.into_iter().map(|said| said.sequence);
    let calls: FxHashSet<Sequence> = acts.iter().map(|act| act.sequence).chain(called).collect();
    let by = |voice: Voice| spoken.iter().filter(move |said| said.voice == voice).map(|said| said.sequence);
    let asked = by(Voice::User).max();
    let answered = by(Voice::Other).filter(|sequence| !calls.contains(sequence)).max();
    let acted = calls.iter().max().copied();
    // a request is past once it is answered, an announcement or a question once anybody goes on
    let is_past = |matter: &Matter| {
        let follows = |last: Option<Sequence>| last.is_some_and(|last| last > matter.sequence);
        let is_request = matter.text.starts_with(USER) || matter.text.starts_with(AGREED);
        matter.rank > LEFT
            && !matter.text.starts_with(TODO)
            && (follows(asked) || follows(answered) || !is_request && follows(acted))
    };
    matters.retain(|matter| matter.rank <= LEFT || !is_past(matter));
    let reports = reports(matters.iter().filter(|matter| matter.rank <= LEFT), acts, saids);
    matters.retain(|matter| matter.rank > LEFT || !is_settled(matter, acts, &reports));
    let mut told = FxHashSet::default();
    matters.reverse();
    matters.retain(|matter| told.insert(words_of(&matter.text).to_owned()));
    matters.reverse();
    let order = ordered(matters.len(), |at| Reverse((matters[at].rank, at)));
    let line = |chosen: &[usize]| {
        let part = |at: &usize| {
            let Matter { sequence, result, text, .. } = matters[*at].clone();
            Part { sequence, result, text, weight: 0 }
        };
        let parts: Vec<Part> = chosen.iter().map(part).collect();
        Sentence::listed(LineKind::Open, HEAD, &parts, 0, counter)
    };
    fitting(order, MOST, room, |at| matters[at].text.len(), line).into_iter().collect()
}

/// A matter's text without its head, by which it can be in a list twice: as what was said, and as the next step.
fn words_of(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, words)| words)
}

/// Something that was reported later, by which a matter can be settled.
struct Report {
    sequence: Sequence,
    about: FxHashSet<u32>,
}

/// Calls that succeeded, and sentences that report a decision, after the first of `matters`.
fn reports<'a>(mut matters: impl Iterator<Item = &'a Matter>, acts: &[Act], saids: &[Said]) -> Vec<Report> {
    let Some(first) = matters.next().map(|first| first.sequence) else { return Vec::new() };
    let done = acts.iter().filter(|act| act.sequence > first && !act.failed);
    let done = done.filter_map(|act| Some((act.sequence, act.text.as_deref()?)));
    let later = saids.iter().filter(|said| said.sequence > first);
    let said = later.map(|said| (said.sequence, said.said())).filter(|(_, said)| decides(said));
    done.chain(said).map(|(sequence, text)| Report { sequence, about: about(text) }).collect()
}

fn is_settled(matter: &Matter, acts: &[Act], reports: &[Report]) -> bool {
    if matter.text.ends_with(FAILED) {
        let mut done = acts.iter().filter(|act| act.sequence > matter.sequence && !act.failed);
        return done.any(|act| failure(act).text == matter.text);
    }
    let open = about(&matter.text);
    let mut later = reports.iter().filter(|report| report.sequence > matter.sequence);
    later.any(|report| open.intersection(&report.about).count() * 2 >= open.len().max(1))
}

fn decides(text: &str) -> bool {
    let mut decides = false;
    scan(text, |word| decides |= word.cue == Cue::Decision);
    decides
}

fn about(text: &str) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    concepts(text, |concept| {
        found.insert(concept);
    });
    found
}
