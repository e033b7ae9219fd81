//! A history as a conversation.

use std::sync::Arc;

use crate::{
    Conversation, Draft, Identity, LineageId, More, Policy, Role, Sequence, Timestamp, TokenCounter,
    ToolCall, Utterance, UtteranceId,
    exchange::{Answers, LateResult, Pairing},
    history::Entry,
};

/// The conversation in which `entries` were said, which are paired so.
///
/// The sequence of an utterance is the place of its entry, counted from 1. Calls without a result and results without a
/// call are not in it, nor what is then empty. A late result is.
pub fn conversation(entries: &[Entry], pairing: &Pairing, counter: &dyn TokenCounter) -> Conversation {
    let mut conversation = Conversation::new(Identity::default(), Policy::SESSION);
    let Conversation { head, window, .. } = &mut conversation;
    for (place, Entry { draft, .. }) in entries.iter().enumerate() {
        let late = match pairing.answers[place] {
            Answers::Nothing if draft.role == Role::Tool => continue,
            Answers::Late(call) => Some(late_result(call, entries)),
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

/// The sequence of the entry at `place`.
fn sequence(place: usize) -> Sequence {
    Sequence(place as u64 + 1)
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

fn late_result(call: Option<(usize, usize)>, entries: &[Entry]) -> LateResult {
    let (caller, call) = call.unwrap_or_default();
    let made: Option<&ToolCall> = entries.get(caller).and_then(|entry| entry.draft.tool_calls().get(call));
    LateResult { caller: sequence(caller), tool: made.map_or_else(Box::default, |made| made.name.clone()) }
}
