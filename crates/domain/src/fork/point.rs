//! Where a conversation can be forked, and its state at that point.

use std::sync::Arc;

use crate::{
    Conversation, Head, Need, Refusal, Sequence, Undecided, Utterance, Window,
    change::Context,
    exchange::{AbandonedCall, OpenExchange},
    locate,
};

/// Archived utterances that are first searched for the end of a unit.
const LOOK_AHEAD: u64 = 16;

/// The point `at`, or else the newest utterance.
///
/// Refuses a point where nothing was said, and one that cuts an exchange.
pub(super) fn accepted(
    before: &Conversation,
    at: Option<Sequence>,
    context: &Context<'_>,
) -> Result<Sequence, Undecided> {
    let newest = before.head.newest();
    let at = at.unwrap_or(newest);
    if newest.get() == 0 {
        let text = "nothing was said in the conversation yet: there is nothing to fork";
        return Err(Refusal::invalid("at_sequence", text).into());
    }
    if at.get() == 0 || at > newest {
        let text = format!("is {at}; accepted: 1 to {newest}, the newest sequence");
        return Err(Refusal::invalid("at_sequence", text).into());
    }
    match locate::following(before, at, context.loaded)? {
        Some(next) if next.unit <= at => {
            let last = last_of_unit(before, &next, context)?;
            Err(Refusal::CutsExchange { at, first: next.unit, last }.into())
        }
        _ => Ok(at),
    }
}

/// The last sequence of the unit of `member`.
fn last_of_unit(before: &Conversation, member: &Utterance, context: &Context<'_>) -> Result<Sequence, Need> {
    if before.window.get(member.sequence).is_some() {
        let unit = before.window.unit(member.unit);
        return Ok(unit.last().map_or(member.sequence, |last| last.sequence));
    }
    let mut behind = (*before.head.archived).clone();
    behind.remove(Sequence::FIRST, member.sequence);
    let mut count = LOOK_AHEAD;
    loop {
        let wanted = behind.clone().take_first(count);
        let followers = context.loaded.archive(&wanted)?;
        let unit = followers.iter().take_while(|other| other.unit == member.unit);
        let (seen, last) = unit.fold((0, member.sequence), |(seen, _), other| (seen + 1, other.sequence));
        if seen < followers.len() || wanted == behind {
            return Ok(last);
        }
        count *= 8;
    }
}

/// The head of `before` as it was at `at`, where `window` ends. It is open even if the conversation has ended
/// since.
pub(super) fn end_of(before: &Conversation, at: Sequence, window: &Window) -> Head {
    let head = before.head.clone();
    let newest = window.last();
    let (turn, only_instructions) = match at == head.newest() {
        true if head.ended.is_none() => return head,
        true => (head.turn, head.only_instructions),
        false => (
            newest.map_or(0, |newest| newest.turn),
            newest.map_or(at.get() == 0, |newest| newest.sequence == at && newest.instruction),
        ),
    };
    // the last utterance before the point may be gone; the calls that waited are then abandoned
    let open = newest.filter(|newest| newest.sequence == at).and_then(|newest| {
        let unit: Vec<_> = window.unit(newest.unit).cloned().collect();
        OpenExchange::after(&unit)
    });
    Head {
        turn,
        only_instructions,
        abandoned: abandoned_at(&head, at, open.as_ref()),
        open: open.map(Arc::new),
        awaits_answer: newest.is_some_and(|newest| newest.sequence == at && newest.awaits_answer()),
        ended: None,
        ..head
    }
}

/// The calls abandoned up to `at`, where `open` waits; later calls and answers are not part of the fork.
fn abandoned_at(head: &Head, at: Sequence, open: Option<&OpenExchange>) -> Arc<[AbandonedCall]> {
    let waits = open.map_or(at.next(), |open| open.unit);
    let calls = head.abandoned.iter().filter(|call| call.caller < waits);
    let then = |call: &AbandonedCall| {
        let answer = call.answer.filter(|answer| *answer <= at);
        AbandonedCall { answer, ..call.clone() }
    };
    calls.map(then).collect()
}
