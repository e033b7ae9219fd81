//! A refusal is what the naive world says too, in some state that it was in during the call; and so is the answer
//! that there is nothing to change.

use utterd::{
    domain::{ConversationId, Reason, Refusal, Revision},
    engine::EngineError,
};

use crate::{
    calls::{Answer, Call},
    checks::{Order, Wrong},
    naive::{Command, Doing, World},
    story::Tick,
    tell,
    world::{End, Try},
};

pub fn check(order: &Order<'_>) -> Vec<Wrong> {
    let wrong = |attempt: &Try| match &attempt.end {
        End::Failed(EngineError::Refused(refusal)) => {
            let is_true = worlds(order, attempt).any(|world| refuses(world, attempt, refusal));
            (!is_true).then(|| told("a refusal is true", attempt, &refusal.to_string()))
        }
        End::Answered(Answer::Now { change: None, .. }) => {
            let is_true = worlds_with_own(order, attempt).any(|world| changes_nothing(world, attempt));
            (!is_true).then(|| told("what changes nothing has nothing to change", attempt, "nothing"))
        }
        _ => None,
    };
    order.tries.iter().filter_map(wrong).collect()
}

fn told(rule: &'static str, attempt: &Try, what: &str) -> Wrong {
    let Try { number, invoked, ended, call, .. } = attempt;
    Wrong::new(rule, format!("call {number}, {invoked} to {ended} ({}): {what}", tell::call(call)))
}

/// The worlds that a call might have seen. Once it took effect, it is replayed.
fn worlds<'a>(order: &'a Order<'_>, attempt: &Try) -> impl Iterator<Item = &'a World> {
    let ended = order.kept(attempt).map_or(attempt.ended, |kept| kept.tick.min(attempt.ended));
    worlds_until(order, attempt, ended)
}

/// The same, with those that came about as it took effect: what changed nothing may follow a change that took effect
/// with it.
fn worlds_with_own<'a>(order: &'a Order<'_>, attempt: &Try) -> impl Iterator<Item = &'a World> {
    let ended = order.kept(attempt).map_or(attempt.ended, |kept| (kept.tick + 1).min(attempt.ended));
    worlds_until(order, attempt, ended)
}

fn worlds_until<'a>(order: &'a Order<'_>, attempt: &Try, ended: Tick) -> impl Iterator<Item = &'a World> {
    let (start, worlds) = (first_seen(order, attempt, ended), &order.ledger.worlds);
    let first = worlds.partition_point(|(tick, _)| *tick <= start).saturating_sub(1);
    worlds[first..].iter().take_while(move |(tick, _)| *tick < ended).map(|(_, world)| world)
}

/// The moment of the oldest state that a call can see.
fn first_seen(order: &Order<'_>, attempt: &Try, ended: Tick) -> Tick {
    let seen = |id: &ConversationId| {
        let first = *order.visible(id, attempt.invoked, ended).start();
        order.versions(id)[first].tick
    };
    let address = attempt.call.address().unwrap_or_default();
    let (recipient, mut ids): (_, Vec<_>) =
        (address.recipient_or_default(), address.conversation.into_iter().collect());
    if let Some(Doing::Fork(fork)) = attempt.call.doing() {
        ids.extend(fork.id.iter().filter_map(|id| ConversationId::new(id).ok()));
    }
    let mut first: Vec<_> = ids.iter().map(seen).collect();
    if ids.is_empty() {
        let (since, active) = order.active_since(&recipient, attempt.invoked, ended);
        first.push(since);
        first.extend(active.iter().flatten().map(seen));
    }
    // whoever asks for one moment sees everything that was told before the call
    first.into_iter().max().unwrap_or(0).min(attempt.invoked)
}

fn refuses(world: &World, attempt: &Try, refusal: &Refusal) -> bool {
    let command = match &*attempt.call {
        Call::Do(command, _) => command.clone(),
        // like a command that needs its conversation
        other => {
            let address = other.address().unwrap_or_default();
            let conversation = address.conversation.map(|id| id.to_string());
            let recipient = address.recipient.map(|recipient| recipient.to_string());
            Command { conversation, recipient, expected: None, doing: Doing::Undo }
        }
    };
    let found = world.find(&command).map_or(0, |found| found.revision);
    let reason = refusal.reason();
    match refusal {
        Refusal::StaleRevision { actual, .. } if found != actual.get() && *actual != Revision::NONE => false,
        // whether it becomes smaller depends on the words of the summary
        _ if reason == Reason::Irreducible => {
            attempt.times.iter().any(|now| world.clone().take(&command, *now, "new").is_ok())
        }
        _ => {
            attempt.times.iter().any(|now| world.clone().take(&command, *now, "new") == Err(reason.as_str()))
        }
    }
}

fn changes_nothing(world: &World, attempt: &Try) -> bool {
    let Call::Do(command, _) = &*attempt.call else { return false };
    let done = world.clone().take(command, attempt.times[0], "new");
    done.is_ok_and(|facts| !facts.changed)
}
