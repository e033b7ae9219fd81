//! Writes a conversation in a format.

use serde_json::{Map, Value};

use crate::{
    Format, Losses, Parsed, Repairs, Whole, anthropic, extras::Parts, openai_chat, openai_responses,
    persisted, providers,
};

/// Writes the conversation in `format`, and lists what the format cannot carry. Null for a read-only format.
pub fn export(whole: &Whole<'_>, format: Format, repairs: Repairs) -> (Value, Losses) {
    let mut losses = Losses::default();
    let value = match format {
        Format::OpenAiChat => openai_chat::export(whole, repairs, &mut losses),
        Format::OpenAiResponses => openai_responses::export(whole, repairs, &mut losses),
        Format::Anthropic => anthropic::export(whole, repairs, &mut losses),
        Format::Persisted => persisted::export(whole, &mut losses),
        _ => Value::Null,
    };
    whole.note_uncarried(format, &mut losses);
    (value, losses)
}

/// The messages or items of an exported conversation, without the object around them.
pub fn messages(value: Value, format: Format) -> Vec<Value> {
    match value {
        Value::Array(messages) => messages,
        Value::Object(mut fields) => match fields.remove(providers::of(format).list(&fields)) {
            Some(Value::Array(messages)) => messages,
            other => other.into_iter().collect(),
        },
        other => vec![other],
    }
}

/// A conversation that was read, as OpenAI's chat messages.
pub fn chat_messages(parsed: &Parsed) -> Value {
    let message = |said| openai_chat::PROVIDER.plain(&Parts::from(said));
    parsed.said.iter().flat_map(|sourced| message(&sourced.draft)).collect()
}

/// Turns an exported conversation into an object with an id, so that several fit into one file.
pub fn named(value: Value, format: Format, id: &str) -> Value {
    let mut named = Map::from_iter([("id".to_owned(), id.into())]);
    match value {
        Value::Object(fields) => named.extend(fields),
        messages => drop(named.insert(providers::of(format).list(&named).to_owned(), messages)),
    }
    Value::Object(named)
}
