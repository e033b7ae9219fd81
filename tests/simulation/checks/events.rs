//! The trace of an engine contains each change that it acknowledged, once and in order.

use std::collections::BTreeMap;

use utterd::{
    domain::{LineageId, Ranges, Revision},
    engine::{Event, Facts, Operation},
};

use crate::{
    calls::Answer,
    checks::{Order, Wrong},
    ledger::{By, Version},
    world::{End, Try},
};

type Place = (LineageId, Revision);

/// Checks the events of each engine. Those of `living` are complete; one that was killed might not have had
/// time to publish the last of its changes.
pub fn check(order: &Order<'_>, runs: &[Vec<Event>], living: &[usize]) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for (run, events) in runs.iter().enumerate() {
        let told = changes(events);
        wrongs.extend(told.iter().filter_map(|(id, place, facts)| untrue(order, run, id, *place, facts)));
        let mut last = BTreeMap::<LineageId, Revision>::new();
        for (id, (lineage, revision), _) in &told {
            if last.insert(*lineage, *revision).is_some_and(|before| before >= *revision) {
                wrongs.push(wrong(format!("engine {run} told revision {revision} of {id} out of turn")));
            }
        }
        for attempt in order.tries.iter().filter(|attempt| attempt.run == run) {
            wrongs.extend(untold(attempt, &told));
        }
        wrongs.extend(skipped(order, run, &told, living.contains(&run)));
    }
    wrongs
}

type Told<'a> = (utterd::domain::ConversationId, Place, &'a Facts);

/// The events of changes; a fork does not change its parent.
fn changes(events: &[Event]) -> Vec<Told<'_>> {
    let change = |event: &'_ Event| match &event.subject {
        utterd::engine::Subject::Conversation(identity) => Some((identity.key.id.clone(), identity.lineage)),
        _ => None,
    };
    let of_parent = |facts: &Facts| facts.memorized.is_empty() && !facts.started;
    let is_fork = |event: &Event| event.operation == Operation::ForkConversation;
    let told = events.iter().filter_map(|event| Some((event, event.facts.as_deref()?)));
    let told = told.filter(|(event, facts)| !(is_fork(event) && of_parent(facts)));
    let told = told.filter_map(|(event, facts)| Some((change(event)?, facts)));
    told.map(|((id, lineage), facts)| (id, (lineage, facts.revision), facts)).collect()
}

/// Reports events of changes that were never made, or not in this form.
fn untrue(
    order: &Order<'_>,
    run: usize,
    id: &utterd::domain::ConversationId,
    place: Place,
    facts: &Facts,
) -> Option<Wrong> {
    let Some(version) = order.place(id, place) else {
        return Some(wrong(format!("engine {run} told revision {} of {id}, which was not made", place.1)));
    };
    let versions = order.versions(id);
    let change = versions[version].change.as_ref()?;
    let memorized: Ranges = change.appended.iter().map(|utterance| utterance.sequence).collect();
    (facts.memorized != memorized).then(|| wrong(format!("engine {run} told {facts:?} of {id} {}", place.1)))
}

/// Reports an acknowledged change without an event.
fn untold(attempt: &Try, told: &[Told<'_>]) -> Option<Wrong> {
    let End::Answered(Answer::Now { after, change: Some(_), .. }) = &attempt.end else { return None };
    if !after.head.identity.is_listed() {
        return None;
    }
    let place = (after.head.identity.lineage, after.head.revision);
    let count = told.iter().filter(|(_, other, _)| *other == place).count();
    (count != 1).then(|| wrong(format!("call {} was told {count} times", attempt.number)))
}

/// Reports changes that the engine knows to be made and has no event for; for a killed one, only those before
/// another one with an event.
fn skipped(order: &Order<'_>, run: usize, told: &[Told<'_>], lives: bool) -> Vec<Wrong> {
    let is_told = |version: &Version| told.iter().any(|(_, place, _)| version.place == Some(*place));
    let mut wrongs = Vec::new();
    for (id, versions) in order.ledger.conversations.iter().filter(|(id, _)| !id.is_of_state()) {
        let own = versions.iter().filter(|version| version.by == By::Run(run) && version.exists());
        let own: Vec<_> = own.filter(|version| order.ledger.acknowledged.contains(&version.tick)).collect();
        let last = if lives { own.len() } else { own.iter().rposition(|one| is_told(one)).unwrap_or(0) };
        let untold = own[..last].iter().filter(|version| !is_told(version));
        let how = |version: &&Version| format!("engine {run} never told of {id} as of {}", version.tick);
        wrongs.extend(untold.map(|version| wrong(how(version))));
    }
    wrongs
}

fn wrong(how: String) -> Wrong {
    Wrong::new("the trace tells each change once", how)
}
