//! Abandoned calls, and the late results that answer them.

use crate::{Head, Ranges, Utterance, exchange::AbandonedCall};

/// Checks that a late result comes after its call, and that the head is right about the utterance as a caller
/// and as an answer.
pub(super) fn check(utterance: &Utterance, head: &Head) -> Result<(), String> {
    let sequence = utterance.sequence;
    if utterance.late().is_some_and(|late| late.caller >= sequence) {
        return Err(format!("result {sequence} is late, but what it answers was not said before it"));
    }
    let makes = |call: &AbandonedCall| utterance.tool_calls().iter().any(|made| made.id == call.id);
    let answers = |call: &AbandonedCall| {
        let late = utterance.late().is_some_and(|late| late.caller == call.caller);
        late && utterance.tool_call_id() == Some(&*call.id)
    };
    for call in head.abandoned.iter() {
        if call.caller == sequence && !makes(call) {
            return Err(format!(
                "its head lists a call {:?} of utterance {sequence}, which makes no such call",
                call.id
            ));
        }
        if call.answer == Some(sequence) && !answers(call) {
            return Err(format!(
                "its head says that utterance {sequence} answers {:?} late, which it does not",
                call.id
            ));
        }
    }
    Ok(())
}

/// Checks that the head lists only calls of `stored` utterances.
pub(super) fn check_stored(head: &Head, stored: &Ranges) -> Result<(), String> {
    match head.abandoned.iter().find(|call| !stored.contains(call.caller)) {
        Some(AbandonedCall { id, caller, .. }) => {
            Err(format!("its head lists a call {id:?} of utterance {caller}, which is not stored"))
        }
        None => Ok(()),
    }
}
