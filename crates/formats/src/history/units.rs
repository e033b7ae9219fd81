//! Pairs calls and results, gives each call an id and a name that the format accepts, and writes what is paired, all as in
//! an export.

use serde_json::Value;

use crate::{
    Unanswered,
    anthropic::{plain_message, side},
    extras::Parts,
    history::{Prepared, Request, Warning, WarningKind},
    providers, repair,
};
use utterd_domain::{
    Draft, Role, TokenCounter,
    exchange::{Answers, Pairing},
    history::{DropReason, Dropped, Entry, Unit, cut::Cost},
};

/// Messages in which every call is answered.
#[derive(Debug, Default)]
pub struct Units {
    /// The messages with their results, in order.
    pub units: Vec<Unit>,
    /// Results without a call, and calls without a result.
    pub dropped: Vec<Dropped>,
    /// Results that were moved, and ids that were renamed.
    pub warnings: Vec<Warning>,
}

impl Units {
    /// Pairs the messages of `field`, which are in the order of the conversation.
    pub fn of(entries: &[Entry], field: &str, request: &Request, counter: &dyn TokenCounter) -> Self {
        let mut paired = Self::default();
        let said: Vec<Parts<'_>> = entries.iter().map(|entry| Parts::from(&entry.draft)).collect();
        let pairing = repair::pairing(&said);
        paired.report(entries, &pairing, field);
        let mut renamed = 0;
        let note = |_, field: &str, _: &str| renamed += usize::from(field == "tool_calls.id");
        let provider = providers::of_context(request.format);
        let lines = repair::lines(&said, &pairing, provider, Unanswered::LeaveOut, |_| false, note);
        for line in &lines {
            let entry = Entry { index: entries[line.place].index, draft: draft(line.parts()) };
            paired.add(entry, request, counter);
        }
        let text =
            format!("{renamed} call ids were changed, in calls and results, to ones that the format accepts");
        let changed = Warning { kind: WarningKind::CallIdsChanged, text };
        paired.warnings.extend((renamed > 0).then_some(changed));
        paired
    }

    /// Reports the calls and results that are left out, and the results that do not directly follow their
    /// calls.
    fn report(&mut self, entries: &[Entry], pairing: &Pairing, field: &str) {
        let mut moved = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let Some(index) = entry.index else { continue };
            if entry.draft.role == Role::Tool && pairing.answers[place] == Answers::Nothing {
                self.dropped.push(orphan(entry, index, field));
            }
            let answers = &pairing.results[place];
            self.dropped.extend(unanswered(&entry.draft, answers, index, field));
            let mut answers: Vec<usize> = answers.iter().copied().flatten().collect();
            answers.sort_unstable();
            let behind = (place + 1..).zip(answers).filter(|(behind, answer)| behind != answer);
            moved.extend(behind.filter_map(|(_, answer)| entries[answer].index));
        }
        let Some(first) = moved.first() else { return };
        let count = moved.len();
        let text =
            format!("{count} results were moved directly behind their calls, the first {field}[{first}]");
        self.warnings.push(Warning { kind: WarningKind::ResultsMoved, text });
    }

    /// Adds a message, unless nothing of it is left, or a result to the message before it.
    fn add(&mut self, entry: Entry, request: &Request, counter: &dyn TokenCounter) {
        let cost = cost(&entry, request, counter);
        let draft = &entry.draft;
        match (draft.role, self.units.last_mut()) {
            (Role::Tool, Some(unit)) => {
                unit.cost = unit.cost.plus(cost);
                unit.results.push(entry);
            }
            _ if draft.content.is_empty() && draft.tool_calls().is_empty() => {}
            _ => self.units.push(Unit { message: entry, results: Vec::new(), cost }),
        }
    }
}

fn draft(parts: Parts<'_>) -> Draft {
    Draft::of(parts.role, parts.content, parts.more.cloned().unwrap_or_default())
}

/// The most that a message costs.
pub fn cost(entry: &Entry, request: &Request, counter: &dyn TokenCounter) -> Cost {
    let tokens = request.limits.tokens.map_or(0, |_| entry.draft.tokens(counter));
    Cost {
        messages: u64::from(entry.index.is_some()),
        bytes: bytes(&entry.draft, request),
        tokens: tokens.into(),
    }
}

fn orphan(entry: &Entry, index: usize, field: &str) -> Dropped {
    let id = entry.draft.tool_call_id().unwrap_or_default();
    let text = format!(
        "{field}[{index}] answers the call {id:?}, which is not open; accepted: the id of an earlier call that has no result yet, with no user message between"
    );
    Dropped { index, reason: DropReason::OrphanedResult, text }
}

fn unanswered(draft: &Draft, answers: &[Option<usize>], index: usize, field: &str) -> Option<Dropped> {
    let calls = draft.tool_calls().iter().zip(answers);
    let lost: Vec<&str> = calls.filter(|(_, answer)| answer.is_none()).map(|(call, _)| &*call.id).collect();
    if lost.is_empty() {
        return None;
    }
    let rest = match lost.len() < answers.len() || !draft.content.is_empty() {
        true => "the rest of the message stays",
        false => "the message says nothing else",
    };
    let text = format!(
        "{field}[{index}] makes the calls {lost:?}, which have no result and are left out; {rest}. Accepted are calls that a tool message answers before the next user message"
    );
    Some(Dropped { index, reason: DropReason::UnansweredCall, text })
}

/// Writes messages that are paired and alternate.
pub fn write(entries: &[Entry], request: &Request) -> Prepared {
    let is_apart = |entry: &&Entry| request.system_apart() && entry.draft.role == Role::System;
    let system: Vec<&str> = entries.iter().filter(is_apart).map(|entry| &*entry.draft.content).collect();
    let rest: Vec<_> = entries.iter().filter(|entry| !is_apart(entry)).map(|entry| &entry.draft).collect();
    // of OpenAI's messages, each is one by itself
    let turns = rest.chunk_by(|one, next| request.system_apart() && side(one.role) == side(next.role));
    let messages: Vec<Value> = turns.filter_map(|turn| message(turn, request)).collect();
    let message_count = messages.len();
    let messages_json = Value::Array(messages).to_string();
    Prepared { messages_json, system: system.join("\n\n"), message_count, ..Prepared::default() }
}

fn message(turn: &[&Draft], request: &Request) -> Option<Value> {
    let parts: Vec<Parts<'_>> = turn.iter().map(|draft| Parts::from(*draft)).collect();
    match request.system_apart() {
        true => plain_message(&parts),
        false => providers::of_context(request.format).plain(parts.first()?).pop(),
    }
}

/// The bytes of a message written on its own, and of what separates it from others.
pub fn bytes(draft: &Draft, request: &Request) -> u64 {
    let bytes = match draft.role {
        Role::System if request.system_apart() => draft.content.len(),
        _ => message(&[draft], request).map_or(0, |message| message.to_string().len()),
    };
    bytes as u64 + 1
}
