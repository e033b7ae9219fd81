//! A refusal is true for some state that the conversation was in during the call.

use utterd::{
    domain::{
        ConversationId, Reason, Refusal, Revision, compaction::Unable, error::ACTIVE_CONVERSATION,
        state::StaleName,
    },
    engine::EngineError,
};

use crate::{
    calls::Call,
    checks::{Order, Wrong},
    ledger::Version,
    tell,
    world::{End, Try},
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let refused = order.tries.iter().filter_map(|attempt| match &attempt.end {
        End::Failed(EngineError::Refused(refusal)) => Some((attempt, refusal)),
        _ => None,
    });
    refused.filter_map(|(attempt, refusal)| untrue(order, attempt, refusal)).collect()
}

fn untrue(order: &Order<'_>, attempt: &Try, refusal: &Refusal) -> Option<Wrong> {
    let versions = candidates(order, attempt, refusal);
    let is_true = match refusal {
        Refusal::NotFound { kind, .. } if *kind == ACTIVE_CONVERSATION => lacks_active(order, attempt),
        // it would have started one
        Refusal::StaleRevision { actual: Revision::NONE, .. } if is_by_recipient(attempt) => true,
        Refusal::StaleState { names, .. } if is_by_recipient(attempt) && starts_one(&attempt.call, names) => {
            true
        }
        Refusal::Field(Reason::NoOpenCall, _) if is_by_recipient(attempt) && lacks_active(order, attempt) => {
            true
        }
        _ => versions.iter().any(|version| holds(refusal, &attempt.call, version)),
    };
    (!is_true).then(|| {
        let how = format!(
            "call {}, {} to {} ({}): {refusal}",
            attempt.number,
            attempt.invoked,
            attempt.ended,
            tell::call(&attempt.call)
        );
        Wrong::new("a refusal is true", how)
    })
}

/// Whether the names are those of a conversation that the call would have started.
fn starts_one(call: &Call, names: &[StaleName]) -> bool {
    matches!(call, Call::Memorize(_)) && names.iter().all(|stale| stale.actual == Revision::NONE)
}

fn is_by_recipient(attempt: &Try) -> bool {
    attempt.call.address().is_some_and(|address| address.conversation.is_none())
}

/// The versions that the call might have seen.
fn candidates(order: &Order<'_>, attempt: &Try, refusal: &Refusal) -> Vec<Version> {
    let ended = order.undecided_until(attempt);
    let seen = |id: &ConversationId| {
        let visible = order.visible(id, attempt.invoked, ended);
        order.versions(id).get(visible).unwrap_or_default().to_vec()
    };
    if let (Call::Fork(call), Refusal::Exists { .. }) = (&*attempt.call, refusal) {
        return call.id.iter().flat_map(seen).collect();
    }
    let Some(address) = attempt.call.address() else { return Vec::new() };
    match &address.conversation {
        Some(id) => seen(id),
        None => {
            let active = order.active(&address.recipient_or_default(), attempt.invoked, ended);
            active.iter().flatten().flat_map(seen).collect()
        }
    }
}

/// Whether the recipient had no active conversation at that time.
fn lacks_active(order: &Order<'_>, attempt: &Try) -> bool {
    let Some(address) = attempt.call.address() else { return false };
    let ended = order.undecided_until(attempt);
    order.active(&address.recipient_or_default(), attempt.invoked, ended).contains(&None)
}

/// Whether the refusal is true for a version.
fn holds(refusal: &Refusal, call: &Call, version: &Version) -> bool {
    let head = version.state.as_ref().map(|state| &state.head);
    match refusal {
        Refusal::NotFound { .. } if refusal.reason() == Reason::ConversationNotFound => !version.exists(),
        Refusal::NotFound { name, .. } => {
            version.exists() && version.stored.values().all(|utterance| utterance.id_text() != *name)
        }
        Refusal::Exists { name, .. } if refusal.reason() == Reason::UtteranceExists => {
            version.stored.values().any(|utterance| utterance.given_id() == Some(name))
        }
        Refusal::Exists { .. } => version.exists(),
        Refusal::Closed(_) => version.may_be_closed(),
        Refusal::StaleRevision { actual, .. } => {
            version.place.map_or(Revision::NONE, |(_, revision)| revision) == *actual
        }
        Refusal::StaleState { names, .. } => names.iter().all(|stale| {
            if let (None, Some((_, revision))) = (head, version.place) {
                // the state in the middle of a commit is not known
                return stale.actual <= revision;
            }
            let mut entries = head.into_iter().flat_map(|head| head.state.iter());
            let kept = entries.find(|entry| entry.name == stale.name).map(|entry| entry.version);
            kept.unwrap_or(Revision::NONE) == stale.actual
        }),
        Refusal::Compaction(Unable::TooShortToCompact { count }) => {
            version.state.as_ref().is_none_or(|state| state.uncompacted() == *count)
        }
        Refusal::Compaction(Unable::NothingToUndo) => version.state.as_ref().is_none_or(|state| {
            state
                .compactions
                .iter()
                .rev()
                .find(|one| one.undone.is_none())
                .is_none_or(|one| one.folded.is_none())
        }),
        Refusal::Compaction(_) | Refusal::CutsExchange { .. } => version.exists(),
        Refusal::Field(Reason::NoOpenCall, _) => {
            let open = head.and_then(|head| head.open.as_ref());
            let is_open = open.is_some_and(|open| open.calls.iter().any(|id| answers(call, id)));
            let takes_part = |caller| version.stored.get(caller).is_some_and(|caller| !caller.forgotten);
            let is_late = head.is_some_and(|head| {
                let waiting = head.abandoned.iter().filter(|made| made.answer.is_none());
                waiting.filter(|made| answers(call, &made.id)).any(|made| takes_part(&made.caller))
            });
            !is_open && !is_late
        }
        Refusal::Field(Reason::RecipientMismatch, _) => {
            let given = call.address().and_then(|address| address.recipient);
            head.is_some_and(|head| given.is_some_and(|given| given != head.identity.recipient))
        }
        // where a fork can be cut depends on what had been said by then
        Refusal::Field(Reason::InvalidField, violation) => violation.field == "at_sequence",
        _ => false,
    }
}

fn answers(call: &Call, id: &str) -> bool {
    let Call::Memorize(call) = call else { return false };
    call.drafts.iter().any(|draft| draft.tool_call_id() == Some(id))
}
