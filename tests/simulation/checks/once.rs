//! What is acknowledged is stored once; what is not, once or not at all; and each call as a whole.

use std::collections::BTreeMap;

use utterd::domain::Utterance;

use crate::{
    calls::{Answer, Call},
    checks::{Order, Wrong},
    plan::mark_of,
    world::{End, Try},
};

/// Where an utterance was first stored, by conversation, version and sequence.
type Places = BTreeMap<String, Vec<String>>;

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let places = places(order);
    let mut wrongs = gaps(order);
    let mut acknowledged = BTreeMap::new();
    for attempt in order.tries {
        if let (Call::Memorize(call), End::Answered(answer)) = (&*attempt.call, &attempt.end) {
            acknowledged.insert(attempt.number, ());
            wrongs.extend(as_sent(attempt, call, answer));
        }
    }
    for attempt in order.tries {
        let Call::Memorize(call) = &*attempt.call else { continue };
        let is_acknowledged = acknowledged.contains_key(&attempt.number);
        let marks = call.drafts.iter().map(|draft| draft.content.split(' ').next().unwrap_or_default());
        let stored = marks.filter(|mark| places.contains_key(*mark)).count();
        if stored != 0 && stored != call.drafts.len() {
            let how = format!("call {}: {stored} of {} were stored", attempt.number, call.drafts.len());
            wrongs.push(Wrong::new("wholly or not at all", how));
        }
        for draft in &call.drafts {
            let mark = draft.content.split(' ').next().unwrap_or_default();
            let stored = places.get(mark).map_or(&[][..], Vec::as_slice);
            let accepted = if is_acknowledged { 1..=1 } else { 0..=1 };
            if !accepted.contains(&stored.len()) {
                let how = format!("call {}: {mark} was stored at {stored:?}", attempt.number);
                wrongs.push(Wrong::new("once", how));
            }
        }
    }
    wrongs
}

/// Where each utterance was memorized.
fn places(order: &Order<'_>) -> Places {
    let mut places = Places::new();
    for (id, versions) in &order.ledger.conversations {
        for (place, change) in
            versions.iter().enumerate().filter_map(|(at, one)| Some((at, one.change.as_ref()?)))
        {
            for utterance in &change.appended {
                let place = format!("{id} version {} sequence {}", place + 1, utterance.sequence);
                places.entry(mark_of(utterance).to_owned()).or_default().push(place);
            }
        }
    }
    places.remove("said"); // what other processes say is not a call of this run
    places
}

/// The answer must match the request.
fn as_sent(attempt: &Try, call: &utterd::engine::MemorizeCall, answer: &Answer) -> Option<Wrong> {
    let Answer::Now { change: Some(change), .. } = answer else { return None };
    let sent = call.drafts.iter().map(|draft| (&draft.content, draft.role));
    let stored = change
        .appended
        .iter()
        .map(|utterance: &std::sync::Arc<Utterance>| (&utterance.content, utterance.role));
    (!sent.eq(stored)).then(|| Wrong::new("as it was sent", format!("call {}", attempt.number)))
}

/// Sequences have no gaps.
fn gaps(order: &Order<'_>) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for (id, versions) in &order.ledger.conversations {
        let mut before = None::<(utterd::domain::LineageId, u64, Option<u64>)>;
        for version in versions {
            let Some((lineage, revision)) = version.place else {
                before = None;
                continue;
            };
            let next = version.state.as_ref().map(|state| state.head.next.get());
            let appended = version.change.iter().flat_map(|change| &change.appended);
            let appended: Vec<_> = appended.map(|utterance| utterance.sequence.get()).collect();
            let expected = match before {
                Some((life, last, next)) if life == lineage && last + 1 == revision.get() => next,
                None if revision.get() == 1 => None,
                _ => {
                    wrongs
                        .push(Wrong::new("revisions count up", format!("{id}: {revision} came out of turn")));
                    None
                }
            };
            let first = expected.or(appended.first().copied()).unwrap_or(0);
            if !appended.iter().copied().eq((first..).take(appended.len())) {
                wrongs.push(Wrong::new(
                    "sequences have no gap",
                    format!("{id} {revision}: {appended:?} after {first}"),
                ));
            }
            before = Some((lineage, revision.get(), next));
        }
    }
    wrongs
}
