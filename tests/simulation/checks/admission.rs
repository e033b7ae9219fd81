//! A call that did not reach the engine has left no trace: it was refused, or its deadline had passed, or its
//! caller had disconnected.

use std::collections::BTreeSet;

use crate::{
    checks::{Order, Wrong},
    ledger::Version,
    world::End,
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let begun = |begun: bool| order.tries.iter().filter(move |attempt| attempt.begun == begun);
    let numbers: BTreeSet<_> = begun(true).map(|attempt| attempt.number).collect();
    let traces = traces(order);
    let mut wrongs = Vec::new();
    for attempt in begun(false).filter(|attempt| !numbers.contains(&attempt.number)) {
        if traces.contains(&attempt.number) {
            let how = format!("call {} took effect", attempt.number);
            wrongs.push(Wrong::new("what is not begun has no effect", how));
        }
    }
    for attempt in begun(true).filter(|attempt| matches!(attempt.end, End::TurnedAway)) {
        wrongs.push(Wrong::new("what is turned away is not begun", format!("call {}", attempt.number)));
    }
    wrongs
}

/// The numbers of the calls that took effect: those that leave their words, or an outcome.
fn traces(order: &Order<'_>) -> BTreeSet<u64> {
    let mut traces = BTreeSet::new();
    for version in order.ledger.conversations.values().flatten() {
        traces.extend(words(version).filter_map(number_in));
    }
    let requests = order.ledger.outcomes.keys().map(|key| key.request.to_string());
    traces.extend(requests.filter_map(|request| request.strip_prefix("op-")?.parse::<u64>().ok()));
    traces
}

/// The words of calls in the result of a change.
fn words(version: &Version) -> impl Iterator<Item = &str> {
    let utterances = version.change.iter().flat_map(|change| change.appended.iter().chain(&change.rewritten));
    let title = version.state.as_ref().and_then(|state| state.head.title.as_deref());
    utterances.map(|utterance| &*utterance.content).chain(title)
}

/// The number of the call that a text belongs to: its second word.
fn number_in(text: &str) -> Option<u64> {
    text.split(' ').nth(1)?.parse().ok()
}
