//! Writes messages as a provider's JSON.

use serde_json::Value;

use crate::{anthropic, extras::Parts, history::Format, openai_chat};
use utterd_domain::{Draft, Role, history::Entry};

/// The written messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// A JSON array.
    pub messages_json: String,
    /// The text of the system messages, if they are separate.
    pub system: String,
    /// The number of messages in the array.
    pub message_count: usize,
}

/// Writes messages that are paired and alternate.
pub fn write(entries: &[Entry], format: Format) -> Written {
    let apart = |entry: &&Entry| format.system_apart() && entry.draft.role == Role::System;
    let system: Vec<&str> = entries.iter().filter(apart).map(|entry| &*entry.draft.content).collect();
    let rest: Vec<_> = entries.iter().filter(|entry| !apart(entry)).map(|entry| &entry.draft).collect();
    let messages: Vec<Value> = match format {
        Format::OpenAiChat => rest.into_iter().filter_map(|draft| message(&[draft], format)).collect(),
        Format::AnthropicMessages => {
            let turns = rest.chunk_by(|one, next| side(one) == side(next));
            turns.filter_map(|turn| message(turn, format)).collect()
        }
    };
    let message_count = messages.len();
    Written { messages_json: Value::Array(messages).to_string(), system: system.join("\n\n"), message_count }
}

fn side(draft: &Draft) -> bool {
    draft.role == Role::Assistant
}

fn message(turn: &[&Draft], format: Format) -> Option<Value> {
    let parts: Vec<Parts<'_>> = turn.iter().map(|draft| Parts::from(*draft)).collect();
    match format {
        Format::OpenAiChat => Some(openai_chat::message(parts.first()?, None).0),
        Format::AnthropicMessages => anthropic::plain_message(&parts),
    }
}

/// The bytes of a message written on its own, and of what separates it from others.
pub fn bytes(draft: &Draft, format: Format) -> u64 {
    let bytes = match draft.role {
        Role::System if format.system_apart() => draft.content.len(),
        _ => message(&[draft], format).map_or(0, |message| message.to_string().len()),
    };
    bytes as u64 + 1
}
