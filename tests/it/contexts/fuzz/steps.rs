//! What is done to a conversation before a context of it is requested. Steps refer to things by counting back
//! from the newest, so any sequence is meaningful.

use proptest::{collection::vec, option, prelude::*, sample::select};
use utterd::proto::{BuildContextRequest, Policy};

use super::{
    asks,
    said::{Say, says},
};

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    Say(Vec<Say>),
    /// An instruction, and whether it is hard.
    Forget(&'static str, bool),
    Restore(u8),
    Pin(u8, bool),
    Edit(u8, String),
    Limits(Policy),
    /// How many utterances stay.
    Compact(u8),
    UndoCompaction,
    End,
    Build(Box<BuildContextRequest>),
}

/// Sequences that end with some contexts.
pub fn sequences() -> impl Strategy<Value = Vec<Step>> {
    let asks = || asks::request().prop_map(|request| Step::Build(Box::new(request)));
    let first = option::weighted(0.7, policy().prop_map(Step::Limits));
    (says().prop_map(Step::Say), first, vec(step(), 1..24), vec(asks(), 4..10)).prop_map(
        |(said, first, steps, asks)| [said].into_iter().chain(first).chain(steps).chain(asks).collect(),
    )
}

fn step() -> impl Strategy<Value = Step> {
    let words = "[a-z]{1,8}( [a-z]{1,8}){0,20}";
    prop_oneof![
        24 => says().prop_map(Step::Say),
        2 => (forgotten(), prop::bool::weighted(0.3)).prop_map(|(what, hard)| Step::Forget(what, hard)),
        1 => any::<u8>().prop_map(Step::Restore),
        2 => (any::<u8>(), prop::bool::weighted(0.8)).prop_map(|(which, pinned)| Step::Pin(which, pinned)),
        1 => (any::<u8>(), words).prop_map(|(which, text)| Step::Edit(which, text)),
        2 => policy().prop_map(Step::Limits),
        1 => (1..12u8).prop_map(Step::Compact),
        1 => Just(Step::UndoCompaction),
        2 => Just(Step::End),
        3 => asks::request().prop_map(|request| Step::Build(Box::new(request))),
    ]
}

fn forgotten() -> impl Strategy<Value = &'static str> {
    select(vec![
        "oldest",
        "newest",
        "last:2",
        "position:2-4",
        "turn:2",
        "speaker:tool",
        "speaker:user",
        "all",
    ])
}

/// Limits so small that windows roll all the time.
fn policy() -> impl Strategy<Value = Policy> {
    let limit = |limits: std::ops::Range<i32>| option::weighted(0.5, limits);
    (
        limit(0..10),
        limit(0..300),
        limit(0..4),
        limit(0..200),
        limit(0..12),
        option::weighted(0.2, any::<bool>()),
    )
        .prop_map(|(utterances, tokens, turns, summary, archive, summarization_enabled)| Policy {
            max_utterances: utterances,
            max_tokens: tokens,
            max_turns: turns,
            summary_token_limit: summary,
            archive_limit: archive,
            summarization_enabled,
            ..Policy::default()
        })
}
