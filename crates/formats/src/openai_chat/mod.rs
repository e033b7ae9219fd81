//! OpenAI's chat completion messages.

mod export;
mod parse;
mod sent;

pub use export::{export, message, written};
pub use parse::{conversation, read, tool_calls};
pub use sent::{says, sent, words};

use serde_json::{Map, Value, json};

use crate::extras::{Parts, hole};
use utterd_domain::Role;

/// The fields in which a message says something.
const SAID: [&str; 3] = ["content", "refusal", "audio"];

/// `parts` as a message of this format, with holes for the texts.
///
/// The content of an assistant that only calls tools is null.
fn canonical(parts: &Parts<'_>) -> Value {
    let mut fields = Map::new();
    fields.insert("role".into(), parts.role.as_str().into());
    let silent = parts.role == Role::Assistant && parts.content.is_empty() && !parts.calls().is_empty();
    fields.insert("content".into(), if silent { Value::Null } else { hole("content") });
    let mut text = |name: &str, given: bool| given.then(|| fields.insert(name.into(), hole(name)));
    text("name", parts.name().is_some());
    text("tool_call_id", parts.tool_call_id().is_some());
    if !parts.calls().is_empty() {
        let call = |index: usize| {
            let part = |part: &str| hole(format!("calls/{index}/{part}"));
            let function = json!({"name": part("name"), "arguments": part("arguments")});
            json!({"id": part("id"), "type": "function", "function": function})
        };
        fields.insert("tool_calls".into(), (0..parts.calls().len()).map(call).collect());
    }
    Value::Object(fields)
}
