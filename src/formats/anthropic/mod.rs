//! Messages of Anthropic.
//!
//! A message of the user that holds results becomes a tool utterance for each result, and one of the
//! user for the rest. On the way out neighbours of the same side are one message, unless the second
//! began one when it came in.

mod accepted;
mod export;
mod parse;

pub use export::{accepted_content, export, message};
pub use parse::conversation;

use serde_json::{Value, json};

use crate::{
    domain::Role,
    formats::extras::{Parts, hole},
};

/// Marks an utterance that begins a message behind one of the same side.
const STARTS: &str = "starts";
/// Marks a message whose content is text where blocks are usual, or the reverse.
const FORM: &str = "form";
/// The place of a result in its message, where it is not before everything else.
const AT: &str = "at";
/// What a message holds beside its role and content.
const MESSAGE: &str = "message";
/// Marks what stands in the request's `system`.
const SYSTEM: &str = "system";

/// The content blocks that `parts` are in this format, with holes for what they say.
fn canonical(parts: &Parts<'_>) -> Value {
    if parts.role == Role::Tool {
        let call = parts.tool_call_id().map(|_| hole("tool_call_id"));
        return json!([{"type": "tool_result", "tool_use_id": call, "content": hole("content")}]);
    }
    let text = (!parts.content.is_empty()).then(|| json!({"type": "text", "text": hole("content")}));
    let call = |(index, call): (usize, &crate::domain::ToolCall)| {
        let part = |part: &str| hole(format!("calls/{index}/{part}"));
        let input = match serde_json::from_str(&call.arguments_json) {
            Ok(Value::Object(_)) => part("input"),
            // an input is always an object
            _ if call.arguments_json.is_empty() => json!({}),
            _ => json!({"arguments": part("arguments")}),
        };
        json!({"type": "tool_use", "id": part("id"), "name": part("name"), "input": input})
    };
    text.into_iter().chain(parts.calls().iter().enumerate().map(call)).collect()
}

/// Which side of the conversation speaks: all but the assistant speak as the user.
fn side(role: Role) -> &'static str {
    match role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}
