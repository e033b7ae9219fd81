//! What is open: questions without an answer, promises not kept, failures not made good.

use rustc_hash::FxHashSet;

use crate::domain::{
    TokenCounter,
    extractive::{
        clip::fold,
        pool::{Act, Matter, Said},
        sentence::{BETWEEN, LineKind, Part, Sentence},
        words::{Cue, concepts, scan},
    },
};

/// The limit for one matter, in bytes.
const MATTER_BYTES: usize = 120;
/// How many of the newest matters are considered.
const MOST_LOOKED_AT: usize = 16;
/// How many matters are listed.
const MOST: usize = 3;
/// The largest share of a budget, in percent.
const MOST_PERCENT: u64 = 12;
/// A promise that names fewer concepts is a figure of speech.
const LEAST_CONCEPTS: usize = 3;
/// A question that names fewer concepts asks nothing: "Anything else?"
const LEAST_ASKED: usize = 2;

const HEAD: &str = "Open:";
const FAILED: &str = " failed";

/// How sentences that promise something begin, in lower case.
const PROMISES: [&str; 15] = [
    "i'll ",
    "i will ",
    "i’ll ",
    "we'll ",
    "we will ",
    "we’ll ",
    "i'm going to ",
    "i am going to ",
    "we still need ",
    "i still need ",
    "remind me ",
    "ich werde ",
    "je vais ",
    "voy a ",
    "vou ",
];

/// The matter that a sentence might leave open: a question, a promise, or work it says is left to do.
pub(super) fn matter(said: &Said, is_asked: bool) -> Option<Matter> {
    let words = said.said();
    let lower = words.to_lowercase();
    let promises = PROMISES.iter().any(|start| lower.starts_with(start));
    let (mut left, mut concepts) = (false, FxHashSet::default());
    scan(words, |word| {
        // "the remaining balance" leaves nothing to do
        left |=
            word.cue == Cue::Open && (word.start == 0 || !word.of(words).eq_ignore_ascii_case("remaining"));
        if word.weight > 0 {
            concepts.insert(word.concept);
        }
    });
    let is_matter =
        is_asked && concepts.len() >= LEAST_ASKED || (promises || left) && concepts.len() >= LEAST_CONCEPTS;
    is_matter.then(|| {
        let mut text = String::new();
        let plain = said.text.trim_end().replace(BETWEEN, ", ");
        fold(&plain, MATTER_BYTES, &mut text);
        Matter { sequence: said.sequence, result: said.result, text: text.into() }
    })
}

/// A failed call as a matter.
pub(super) fn failure(act: &Act) -> Matter {
    let name = act.head.split(" called ").last().unwrap_or(&act.head);
    let asked = if act.key.is_empty() { String::new() } else { format!("({})", act.key) };
    Matter { sequence: act.sequence, result: act.result, text: format!("{name}{asked}{FAILED}").into() }
}

/// The line of those `matters` that are still open, in the order said; the newest if not all fit.
///
/// A matter is settled once a later successful call, or a later sentence that reports a decision, mentions
/// the same concepts.
pub(super) fn line(
    mut matters: Vec<Matter>,
    acts: &[Act],
    saids: &[Said],
    budget: u32,
    counter: &dyn TokenCounter,
) -> Option<Sentence> {
    matters.sort_by_key(|matter| matter.sequence);
    matters.drain(..matters.len().saturating_sub(MOST_LOOKED_AT));
    matters.retain(|matter| !is_settled(matter, acts, saids));
    matters.dedup_by(|one, other| one.text == other.text);
    let room = (u64::from(budget) * MOST_PERCENT / 100) as u32;
    let part = |matter: &Matter| {
        let Matter { sequence, result, text } = matter.clone();
        Part { sequence, result, text, weight: 0 }
    };
    let parts: Vec<Part> = matters.iter().map(part).collect();
    (parts.len().saturating_sub(MOST)..parts.len()).find_map(|from| {
        let line = Sentence::listed(LineKind::Open, HEAD, &parts[from..], 0, counter);
        (line.tokens <= room).then_some(line)
    })
}

fn is_settled(matter: &Matter, acts: &[Act], saids: &[Said]) -> bool {
    let done = |act: &&Act| act.sequence > matter.sequence && !act.failed;
    if matter.text.ends_with(FAILED) {
        return acts.iter().filter(done).any(|act| failure(act).text == matter.text);
    }
    let open = about(&matter.text);
    let tells = |text: &str| {
        let told = about(text);
        let shared = open.iter().filter(|concept| told.contains(concept)).count();
        shared * 2 >= open.len().max(1)
    };
    let later = saids.iter().filter(|said| said.sequence > matter.sequence);
    acts.iter().filter(done).any(|act| act.text.as_deref().is_some_and(tells))
        || later.filter(|said| decides(said.said())).any(|said| tells(said.said()))
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
