//! A repeated call returns its first outcome.

use std::sync::Arc;

use utterd::{
    domain::{Change, Conversation, Ranges, Utterance, capacity::Capacity},
    store::Outcome,
};

use crate::{
    calls::{Answer, Earlier},
    checks::{Order, Wrong},
    ledger::{Kept, Version},
    world::{End, Try},
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let wrong = |attempt: &Try| match &attempt.end {
        End::Answered(Answer::Earlier(earlier)) => replayed(order, attempt, earlier),
        End::Answered(Answer::Now { after, change, outcome, .. }) => {
            untrue(after, change.as_deref(), outcome)
                .or_else(|| another(order, after, change.as_ref()))
                .or_else(|| decided_anew(order, attempt, outcome))
        }
        _ => None,
    };
    let told = |attempt: &Try| {
        wrong(attempt).map(|how| {
            let Try { number, invoked, ended, .. } = attempt;
            Wrong::new("a replay is the first answer", format!("call {number}, {invoked} to {ended}: {how}"))
        })
    };
    order.tries.iter().filter_map(told).collect()
}

/// Checks that a new decision was not made although an outcome had already been stored.
fn decided_anew(order: &Order<'_>, attempt: &Try, told: &Arc<Outcome>) -> Option<String> {
    attempt.call.attempt()?;
    match order.kept(attempt) {
        Some(kept) if kept.tick < attempt.invoked => Some(format!("it took effect at {}, before", kept.tick)),
        Some(kept) if kept.tick > attempt.ended => Some(format!("it took effect at {}, after", kept.tick)),
        Some(Kept { outcome, .. }) => {
            (outcome != told).then(|| format!("it told of {told:?}, and keeps {outcome:?}"))
        }
        None => Some("its outcome was not kept".to_owned()),
    }
}

/// Checks that the change in an answer is the one that was stored.
fn another(order: &Order<'_>, after: &Conversation, told: Option<&Arc<Change>>) -> Option<String> {
    let told = told?;
    let version = order.versions(&after.key().id).get(order.find(after)?)?.change.clone();
    (version.as_ref() != Some(told)).then(|| format!("it tells of {told:?}, and {version:?} was stored"))
}

/// Compares a new outcome with its change and the resulting state.
fn untrue(after: &Conversation, change: Option<&Change>, told: &Outcome) -> Option<String> {
    let sequences =
        |utterances: &[Arc<Utterance>]| utterances.iter().map(|one| one.sequence).collect::<Ranges>();
    let nothing = Change::default();
    let change = change.unwrap_or(&nothing);
    let mut restored = change.restored.clone();
    restored.union(&sequences(&change.returned));
    let forgotten = if change.erased.is_empty() { &change.forgotten } else { &change.erased };
    let so = told.revision == after.head.revision
        && told.capacity == Capacity::of(after)
        && told.memorized == sequences(&change.appended)
        && told.evicted == sequences(&change.evicted)
        && told.forgotten == *forgotten
        && told.restored == restored;
    (!so).then(|| format!("it tells of {told:?}, and the change is {change:?}"))
}

fn replayed(order: &Order<'_>, attempt: &Try, earlier: &Earlier) -> Option<String> {
    let Some(kept) = order.kept(attempt) else { return Some("nothing was kept".to_owned()) };
    if kept.outcome != earlier.outcome || kept.tick > attempt.ended {
        return Some("it is another outcome than the one that was kept".to_owned());
    }
    let id = &kept.outcome.conversation;
    if id.is_of_state() {
        return None;
    }
    let versions = order.versions(id);
    let first = kept.version.max(*order.visible(id, attempt.invoked, attempt.ended).start());
    let last = *order.visible(id, attempt.invoked, attempt.ended).end();
    let seen = versions.get(first..=last).unwrap_or_default();
    let Some(state) = &earlier.conversation else {
        // the one that has its id now might be another
        let life = |version: &Version| version.place.map(|(life, _)| life);
        let own = versions.get(kept.version).and_then(life);
        let is_gone = seen.iter().any(|version| life(version) != own);
        return (!is_gone).then(|| format!("{id} is not told, though it was there all the time"));
    };
    let from = order.find(state)?;
    if from < kept.version {
        return Some(format!(
            "{id} is told as of version {from}; it came about with version {}",
            kept.version
        ));
    }
    let seen = versions.get(from..=last.max(from))?;
    if let Some(sequence) = kept.outcome.target {
        let told = earlier.utterances.iter().find(|utterance| utterance.sequence == sequence);
        let is_so = seen.iter().filter_map(|version| version.naive.as_ref()).any(|version| match told {
            Some(told) => version.compare_one(told, &version.pairing()).is_ok(),
            None => !version.listed(true).contains(&sequence.get()),
        });
        if !is_so {
            let said = told.map(|utterance| utterance.content.split(' ').next().unwrap_or_default());
            return Some(format!("{sequence} of {id} is told as {said:?}, as which it was not stored then"));
        }
    }
    None
}
