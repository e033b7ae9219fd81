//! Anthropic's messages.
//!
//! A user message with results becomes one tool utterance per result, and one user utterance for the rest. On
//! the way out, neighbours on the same side are joined into one message, unless the second one began a
//! message when it came in.

mod export;
mod parse;
mod sent;

pub use export::{blocks, export, message, plain_message};
pub use parse::{conversation, read};
pub use sent::{left_of_message, says, sent};

use serde_json::{Value, json};

use crate::extras::{MESSAGE, Parts, hole};
use utterd_domain::Role;

/// Marks an utterance that begins a message although the previous one is on the same side.
const STARTS: &str = "starts";
/// Marks a message whose content is text where blocks are usual, or vice versa.
const FORM: &str = "form";
/// The position of a result in its message, if it does not precede everything else.
const AT: &str = "at";
/// Marks the content of the request's `system`.
const SYSTEM: &str = "system";

/// The content blocks of `parts` in this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    if parts.role == Role::Tool {
        let call = parts.tool_call_id().map(|_| hole("tool_call_id"));
        return json!([{"type": "tool_result", "tool_use_id": call, "content": hole("content")}]);
    }
    let text = (!parts.content.is_empty()).then(|| json!({"type": "text", "text": hole("content")}));
    let call = |(index, call): (usize, &utterd_domain::ToolCall)| {
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

/// The side of the conversation that `role` is on: everything but the assistant is on the user's.
fn side(role: Role) -> &'static str {
    match role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}
