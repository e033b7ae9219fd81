//! A call that is repeated is answered with what it came to first.

use utterd::domain::{Conversation, capacity::Capacity};

use crate::{
    calls::{Answer, Earlier, named},
    checks::{Order, Wrong},
    ledger::Kept,
    world::{End, Try},
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let wrong = |attempt: &Try| match &attempt.end {
        End::Answered(Answer::Earlier(earlier)) => replayed(order, attempt, earlier),
        End::Answered(Answer::Now { after, .. }) => decided_anew(order, attempt, after),
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

/// What is wrong with an answer of now whose outcome was kept by then.
fn decided_anew(order: &Order<'_>, attempt: &Try, after: &Conversation) -> Option<String> {
    attempt.call.attempt()?;
    match order.kept(attempt) {
        Some(kept) if kept.tick < attempt.invoked => Some(format!("it took effect at {}, before", kept.tick)),
        Some(kept) if kept.tick > attempt.ended => Some(format!("it took effect at {}, after", kept.tick)),
        Some(Kept { outcome, .. }) => {
            let is_same =
                (outcome.revision, &outcome.capacity) == (after.head.revision, &Capacity::of(after));
            (!is_same).then(|| format!("it told of revision {}, and keeps {outcome:?}", after.head.revision))
        }
        None => Some("its outcome was not kept".to_owned()),
    }
}

fn replayed(order: &Order<'_>, attempt: &Try, earlier: &Earlier) -> Option<String> {
    let Some(kept) = order.kept(attempt) else { return Some("nothing was kept".to_owned()) };
    if kept.outcome != earlier.outcome || kept.tick > attempt.ended {
        return Some("it is another outcome than the one that was kept".to_owned());
    }
    let id = &kept.outcome.conversation;
    let versions = order.versions(id);
    let first = kept.version.max(*order.visible(id, attempt.invoked, attempt.ended).start());
    let last = *order.visible(id, attempt.invoked, attempt.ended).end();
    let seen = versions.get(first..=last).unwrap_or_default();
    let Some(state) = &earlier.conversation else {
        let is_gone = seen.iter().any(|version| !version.exists());
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
    for sequence in named(&kept.outcome).sequences() {
        let told = earlier.utterances.iter().find(|utterance| utterance.sequence == sequence);
        let is_so = seen.iter().any(|version| version.stored.get(&sequence) == told);
        if !is_so {
            let said = told.map(|utterance| utterance.content.split(' ').next().unwrap_or_default());
            return Some(format!("{sequence} of {id} is told as {said:?}, as which it was not stored then"));
        }
    }
    None
}
