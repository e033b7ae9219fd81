//! Writes messages as a provider's JSON.

use serde_json::Value;

use crate::{
    anthropic,
    extras::Parts,
    history::{Prepared, Request},
    openai_chat,
};
use utterd_domain::{Draft, Role, history::Entry};

/// Writes messages that are paired and alternate.
pub fn write(entries: &[Entry], request: &Request) -> Prepared {
    let is_apart = |entry: &&Entry| request.system_apart() && entry.draft.role == Role::System;
    let system: Vec<&str> = entries.iter().filter(is_apart).map(|entry| &*entry.draft.content).collect();
    let rest: Vec<_> = entries.iter().filter(|entry| !is_apart(entry)).map(|entry| &entry.draft).collect();
    // of OpenAI's messages, each is one by itself
    let turns = rest.chunk_by(|one, next| request.system_apart() && side(one) == side(next));
    let messages: Vec<Value> = turns.filter_map(|turn| message(turn, request)).collect();
    let message_count = messages.len();
    let messages_json = Value::Array(messages).to_string();
    Prepared { messages_json, system: system.join("\n\n"), message_count, ..Prepared::default() }
}

fn side(draft: &Draft) -> bool {
    draft.role == Role::Assistant
}

fn message(turn: &[&Draft], request: &Request) -> Option<Value> {
    let parts: Vec<Parts<'_>> = turn.iter().map(|draft| Parts::from(*draft)).collect();
    match request.system_apart() {
        true => anthropic::plain_message(&parts),
        false => openai_chat::PROVIDER.plain(parts.first()?).pop(),
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
