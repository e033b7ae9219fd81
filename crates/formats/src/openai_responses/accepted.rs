//! What OpenAI's API accepts as items.

use serde_json::Value;

use crate::{
    extras::Parts,
    fields::{has_only, is_text},
    openai_responses::canonical,
};

/// The original items of `parts` (`rendered`) if the API accepts all of them, otherwise the canonical ones.
/// Empty if nothing is said or called.
pub(super) fn accepted(parts: &Parts<'_>, rendered: &[Value]) -> Vec<Value> {
    if !rendered.is_empty() && rendered.iter().all(knows) {
        return rendered.to_vec();
    }
    match parts.plain(canonical(parts)) {
        Value::Array(mut items) => {
            items.retain(|item| item["content"] != "");
            items
        }
        _ => Vec::new(),
    }
}

fn knows(item: &Value) -> bool {
    match item["type"].as_str() {
        Some("message") => {
            let role = item["role"].as_str().unwrap_or_default();
            has_only(item, &["type", "id", "status", "role", "content"])
                && ["system", "developer", "user", "assistant"].contains(&role)
                && is_content(&item["content"], role)
        }
        Some("function_call") => {
            has_only(item, &["type", "id", "status", "call_id", "name", "arguments"])
                && ["call_id", "name"].iter().all(|field| is_text(&item[*field]))
                && item["arguments"].is_string()
        }
        Some("function_call_output") => {
            has_only(item, &["type", "id", "status", "call_id", "output"])
                && is_text(&item["call_id"])
                && (item["output"].is_string() || is_content(&item["output"], "tool"))
        }
        Some("reasoning") => is_text(&item["id"]) && item["summary"].is_array(),
        _ => false,
    }
}

fn is_content(content: &Value, role: &str) -> bool {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    let knows = |part: &Value| match part["type"].as_str() {
        Some("input_image" | "input_file") => role == "user" || role == "tool",
        told => {
            told == Some(kind)
                && is_text(&part["text"])
                && has_only(part, &["type", "text", "annotations", "logprobs"])
        }
    };
    is_text(content) || content.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(knows))
}
