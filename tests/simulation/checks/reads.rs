//! What a read returns: all utterances that stayed, none that were removed, each with its text.

use std::{collections::BTreeSet, sync::Arc};

use utterd::{
    domain::{Head, Sequence, Utterance},
    engine::Found,
};

use crate::{
    calls::{Answer, Call},
    checks::{Order, Wrong},
    ledger::Version,
    plan::mark_of,
    world::{End, Try},
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for attempt in order.tries {
        let End::Answered(answer) = &attempt.end else { continue };
        let found = match (&*attempt.call, answer) {
            (Call::List(list), Answer::Listed(state, listed)) => {
                order.find(state).and_then(|from| listing(order, attempt, from, listed, list.forgotten))
            }
            (_, Answer::Listed(state, listed)) => {
                order.find(state).and_then(|from| listing(order, attempt, from, listed, false))
            }
            (Call::Remember(call), Answer::Found(found)) => remembered(order, attempt, &call.prompt, found),
            (_, Answer::Now { after, change, told, .. }) => {
                let id = &after.key().id;
                let versions = order.versions(id);
                let seen = versions.get(order.visible(id, attempt.invoked, attempt.ended));
                // an unpinned utterance can leave the window and the archive with the same change
                let is_stored = |one: &&Arc<Utterance>| {
                    change.as_ref().is_none_or(|change| !change.removes(one.sequence))
                };
                let told: Vec<_> = told.iter().filter(is_stored).cloned().collect();
                untrue(seen.unwrap_or_default(), &told, true)
            }
            (Call::Get(_), Answer::State(state, Some(active))) => {
                let id = &state.key().id;
                let recipient = &state.head.identity.recipient;
                let pointers = order.active(recipient, attempt.invoked, attempt.ended);
                let is_true = pointers.iter().any(|pointer| (pointer.as_ref() == Some(id)) == *active);
                (!is_true).then(|| format!("{id} was told to be active: {active}; active were {pointers:?}"))
            }
            (Call::Conversations(list), Answer::Conversations(page)) => {
                let is_true = |(head, active): &(Head, bool)| {
                    let identity = &head.identity;
                    let pointers = order.active(&identity.recipient, attempt.invoked, attempt.ended);
                    pointers.iter().any(|pointer| (pointer.as_ref() == Some(&identity.key.id)) == *active)
                };
                let places: Vec<_> = page.heads.iter().map(|(head, _)| list.order.place(head)).collect();
                let untrue = page.heads.iter().find(|told| !is_true(told));
                let untrue = untrue.map(|(head, active)| {
                    format!("{} was told to be active: {active}", head.identity.key.id)
                });
                let in_order = places.is_sorted_by(|one, next| list.order.is_behind(next, one));
                untrue.or_else(|| (!in_order).then(|| format!("not in the order of the list: {places:?}")))
            }
            _ => None,
        };
        let told = |how| {
            let Try { number, invoked, ended, .. } = attempt;
            Wrong::new("a read is whole and true", format!("call {number}, {invoked} to {ended}: {how}"))
        };
        wrongs.extend(found.map(told));
    }
    wrongs
}

/// Checks a list of everything, read from the version `from` on.
fn listing(
    order: &Order<'_>,
    attempt: &Try,
    from: usize,
    listed: &[Arc<Utterance>],
    forgotten: bool,
) -> Option<String> {
    let id = order.sights_of_state(attempt)?;
    let versions = order.versions(&id);
    let last = *order.visible(&id, attempt.invoked, attempt.ended).end();
    let seen = versions.get(from..=last.max(from))?;
    if let Some(pair) = listed.windows(2).find(|pair| pair[0].sequence >= pair[1].sequence) {
        return Some(format!("{} is listed before {}", pair[0].sequence, pair[1].sequence));
    }
    untrue(seen, listed, forgotten)
        .or_else(|| missing(seen, listed, |utterance| forgotten || !utterance.forgotten))
}

/// Reports what was returned although no version contains it.
fn untrue(versions: &[Version], told: &[Arc<Utterance>], forgotten: bool) -> Option<String> {
    let is_said = |utterance: &&Arc<Utterance>| {
        let is_so = |version: &Version| version.stored.get(&utterance.sequence) == Some(utterance);
        (forgotten || !utterance.forgotten) && versions.iter().any(is_so)
    };
    let untrue = told.iter().find(|utterance| !is_said(utterance))?;
    let said = versions.last().and_then(|version| version.stored.get(&untrue.sequence));
    Some(format!("{untrue:?} is told; stored was {said:?}"))
}

/// Reports what all versions contain and was not returned.
fn missing(
    versions: &[Version],
    told: &[Arc<Utterance>],
    wanted: impl Fn(&Utterance) -> bool,
) -> Option<String> {
    let told: BTreeSet<Sequence> = told.iter().map(|utterance| utterance.sequence).collect();
    let stays = |sequence: &Sequence| {
        versions.iter().all(|version| version.stored.get(sequence).is_some_and(|utterance| wanted(utterance)))
    };
    let missing =
        versions.first()?.stored.keys().find(|sequence| !told.contains(sequence) && stays(sequence))?;
    Some(format!("{missing} was stored all the time, and is not told"))
}

/// Checks the results of a search.
fn remembered(order: &Order<'_>, attempt: &Try, prompt: &str, found: &[Found]) -> Option<String> {
    let id = match found.first() {
        Some(first) => first.state.key().id.clone(),
        None => attempt.call.address()?.conversation?,
    };
    let versions = order.versions(&id);
    let visible = order.visible(&id, attempt.invoked, attempt.ended);
    let read = found.first().and_then(|first| order.find(&first.state));
    let seen = versions.get(read.unwrap_or(*visible.start())..=*visible.end())?;
    let utterances: Vec<_> = found.iter().map(|found| found.utterance.clone()).collect();
    let is_wanted =
        |utterance: &Utterance| !utterance.forgotten && (prompt.is_empty() || mark_of(utterance) == prompt);
    untrue(seen, &utterances, false).or_else(|| missing(seen, &utterances, is_wanted))
}
