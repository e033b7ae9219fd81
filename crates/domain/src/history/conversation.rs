//! A history as a conversation.

use std::sync::Arc;

use crate::{
    Conversation, Draft, Identity, LineageId, More, Policy, Role, Sequence, Timestamp, TokenCounter,
    Utterance, UtteranceId,
    exchange::{Answers, LateResult, Pairing},
    history::Entry,
};

/// The conversation in which `entries` were said, which are paired so, after `before` other messages.
///
/// The sequence of an utterance is the place of its entry, counted from 1, and `before`. Calls without a result and results without a
/// call are not in it, nor what is then empty. A late result is.
pub fn conversation(
    entries: &[Entry],
    pairing: &Pairing,
    before: u64,
    counter: &dyn TokenCounter,
) -> Conversation {
    let sequence = |place: usize| Sequence(before + place as u64 + 1);
    let mut conversation = Conversation::new(Identity::default(), Policy::SESSION);
    let Conversation { head, window, .. } = &mut conversation;
    for (place, Entry { draft, .. }) in entries.iter().enumerate() {
        let late = match pairing.answers[place] {
            Answers::Nothing if draft.role == Role::Tool => continue,
            Answers::Late(call) => {
                let (caller, call) = call.unwrap_or_default();
                let calls = entries.get(caller).map_or(&[][..], |entry| entry.draft.tool_calls());
                let tool = calls.get(call).map_or_else(Box::default, |made| made.name.clone());
                Some(LateResult { caller: sequence(caller), tool })
            }
            Answers::Nothing | Answers::Open => None,
        };
        let draft = answered(draft, &pairing.results[place]);
        if draft.is_empty() {
            continue;
        }
        head.only_instructions &= draft.role == Role::System;
        head.turn += u32::from(draft.role == Role::User);
        head.next = sequence(place).next();
        let tokens = draft.tokens(counter);
        let mut more = draft.more;
        if late.is_some() {
            more.get_or_insert_default().late = late;
        }
        window.push(Arc::new(Utterance {
            sequence: sequence(place),
            unit: sequence(pairing.unit[place]),
            create_time: draft.create_time.unwrap_or(Timestamp::UNKNOWN),
            turn: head.turn,
            tokens,
            id: UtteranceId::Assigned(LineageId([0; 16])),
            role: draft.role,
            forgotten: false,
            pinned: false,
            instruction: head.only_instructions,
            aside: false,
            content: draft.content,
            more,
        }));
    }
    conversation
}

/// The draft with those of its calls that have a result.
fn answered(draft: &Draft, results: &[Option<usize>]) -> Draft {
    let mut draft = draft.clone();
    if let Some(more) = &mut draft.more {
        let mut results = results.iter();
        more.tool_calls.retain(|_| results.next().is_some_and(Option::is_some));
        draft.more.take_if(|more| **more == More::default());
    }
    draft
}
