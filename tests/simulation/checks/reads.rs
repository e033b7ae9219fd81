//! What a read returns: all utterances that stayed, none that were removed, each with its text.

use std::{collections::BTreeSet, sync::Arc};

use utterd::{
    domain::{Head, Utterance},
    engine::{Found, RememberCall, Scope},
};

use crate::{
    calls::{Answer, Call},
    checks::{Order, Wrong},
    ledger::Version,
    naive,
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
            (Call::Remember(call), Answer::Found(found)) => remembered(order, attempt, call, found),
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
    untrue(seen, listed, forgotten).or_else(|| missing(seen, listed, |version| version.listed(forgotten)))
}

/// Reports what was returned although no version contains it.
fn untrue(versions: &[Version], told: &[Arc<Utterance>], forgotten: bool) -> Option<String> {
    let versions: Vec<_> = versions.iter().filter_map(|version| version.naive.as_ref()).collect();
    let pairings: Vec<_> = versions.iter().map(|version| version.pairing()).collect();
    let why = |utterance: &Arc<Utterance>| {
        let mut last = Some("nothing is there".to_owned());
        for (version, pairing) in versions.iter().zip(&pairings) {
            last = Some(version.compare_one(utterance, pairing).err()?);
        }
        last
    };
    let hidden = told.iter().find(|utterance| !forgotten && utterance.forgotten);
    hidden.map(|one| format!("{} is forgotten", one.sequence)).or_else(|| told.iter().find_map(why))
}

/// Reports what all versions contain and was not returned.
fn missing(
    versions: &[Version],
    told: &[Arc<Utterance>],
    wanted: impl Fn(&naive::Conversation) -> Vec<u64>,
) -> Option<String> {
    let told: BTreeSet<u64> = told.iter().map(|utterance| utterance.sequence.get()).collect();
    let mut all =
        versions.iter().map(|version| version.naive.as_ref().map(|one| wanted(one)).unwrap_or_default());
    let first = all.next()?;
    let always =
        all.fold(first, |always, one| always.into_iter().filter(|member| one.contains(member)).collect());
    let missing = always.into_iter().find(|sequence| !told.contains(sequence))?;
    Some(format!("{missing} was there all the time, and is not told"))
}

/// Checks the results of a search.
fn remembered(order: &Order<'_>, attempt: &Try, call: &RememberCall, found: &[Found]) -> Option<String> {
    let id = match found.first() {
        Some(first) => first.state.key().id.clone(),
        None => attempt.call.address()?.conversation?,
    };
    let versions = order.versions(&id);
    let visible = order.visible(&id, attempt.invoked, attempt.ended);
    let read = found.first().and_then(|first| order.find(&first.state));
    let seen = versions.get(read.unwrap_or(*visible.start())..=*visible.end())?;
    let utterances: Vec<_> = found.iter().map(|found| found.utterance.clone()).collect();
    let wanted = |version: &naive::Conversation| {
        version.findable(&call.filter, &call.prompt, call.scope == Scope::Window)
    };
    untrue(seen, &utterances, false).or_else(|| missing(seen, &utterances, wanted))
}
