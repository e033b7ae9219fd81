//! What an API refuses of a message is left out, and named.

use std::collections::BTreeSet;

use serde_json::Value;

/// The names of blocks and fields that are left out.
pub type LeftOut = BTreeSet<String>;
/// Whether an API refuses a field with this value, of an object of this type.
pub type Refuses = fn(&str, &str, &Value) -> bool;

/// Where utterd's adapters keep a framework's own message. No model reads it.
pub const FRAMEWORKS: &str = "agent_framework ai_sdk google_adk langchain langgraph_branch llama_index openai_agents \
    openai_agents_js pydantic_ai strands";

/// Removes the fields that an API refuses, which `refuses` tells by the type of an object, or the field `around` it, and
/// names them. The input of a call stays as it is.
pub fn strip(value: &mut Value, around: &str, refuses: Refuses, left_out: &mut LeftOut) {
    let fields = match value {
        Value::Array(values) => {
            return values.iter_mut().for_each(|value| strip(value, around, refuses, left_out));
        }
        Value::Object(fields) => fields,
        _ => return,
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or(around).to_owned();
    fields.retain(|field, value| {
        let refused = refuses(&kind, field, value);
        if refused && !is_nothing(value) {
            left_out.insert(named(&kind, field));
        }
        !refused
    });
    for (field, value) in fields.iter_mut().filter(|(field, _)| *field != "input") {
        strip(value, field, refuses, left_out);
    }
}

/// The name of a field of an object of this type.
pub fn named(kind: &str, field: &str) -> String {
    if kind.is_empty() { field.to_owned() } else { format!("{kind}.{field}") }
}

/// Whether a value tells nothing.
pub fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
