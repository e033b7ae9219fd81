//! OpenAI's Responses items.
//!
//! An assistant utterance is what the model put out in one go: reasoning and calls of built-in tools (kept
//! verbatim), a message, and function calls. Every other item is an utterance of its own.

mod export;
mod parse;
mod sent;

pub use export::{export, items};
pub use parse::{conversation, items_apart};
pub use sent::sent;

use serde_json::{Map, Value, json};

use crate::extras::{Parts, hole};
use utterd_domain::Role;

/// The fields of an object that may hold the items.
const LISTS: [&str; 4] = ["input", "output", "items", "data"];

/// Marks text that came in a request's `instructions`.
const INSTRUCTIONS: &str = "instructions";
/// Marks text that was a request's whole `input`.
const TEXT: &str = "text";

/// The field of an object that holds the items.
pub fn list(fields: &Map<String, Value>) -> &'static str {
    LISTS.into_iter().find(|list| fields.contains_key(*list)).unwrap_or(LISTS[0])
}

/// The items of `parts` in this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    if parts.role == Role::Tool {
        let call = parts.tool_call_id().map(|_| hole("tool_call_id"));
        return json!([{"type": "function_call_output", "call_id": call, "output": hole("content")}]);
    }
    let message = json!({"type": "message", "role": parts.role.as_str(), "content": hole("content")});
    let speaks = !parts.content.is_empty() || parts.calls().is_empty();
    let call = |index: usize| {
        let part = |part: &str| hole(format!("calls/{index}/{part}"));
        json!({"type": "function_call", "call_id": part("id"), "name": part("name"), "arguments": part("arguments")})
    };
    speaks.then_some(message).into_iter().chain((0..parts.calls().len()).map(call)).collect()
}
