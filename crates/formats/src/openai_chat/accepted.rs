//! What OpenAI's API accepts as a message.

use serde_json::Value;

use crate::{
    extras::Parts,
    fields::{has_only, is_text},
    openai_chat::canonical,
};
use utterd_domain::Role;

/// Writes `parts` as a message. The role `developer` is kept from `rendered`, and so are its content parts if
/// the API accepts all of them. `None` if nothing is said or called.
pub(super) fn accepted(parts: &Parts<'_>, rendered: &Value) -> Option<Value> {
    let mut message = parts.plain(canonical(parts));
    let fields = message.as_object_mut()?;
    if parts.role == Role::Tool {
        fields.shift_remove("name");
    }
    if parts.role == Role::System && rendered["role"] == "developer" {
        fields.insert("role".into(), "developer".into());
    }
    let content = &rendered["content"];
    if content
        .as_array()
        .is_some_and(|content| !content.is_empty() && content.iter().all(|part| knows(part, parts.role)))
    {
        fields.insert("content".into(), content.clone());
    }
    let says = parts.role == Role::Tool || fields["content"] != "" || fields.contains_key("tool_calls");
    says.then_some(message)
}

/// Whether the API accepts this content part from `role`.
fn knows(part: &Value, role: Role) -> bool {
    let kind = part["type"].as_str().unwrap_or_default();
    has_only(part, &["type", kind])
        && match (kind, role) {
            ("text", _) => is_text(&part["text"]),
            ("refusal", Role::Assistant) => is_text(&part["refusal"]),
            ("image_url", Role::User) => is_text(&part["image_url"]["url"]),
            ("input_audio" | "file", Role::User) => part[kind].is_object(),
            _ => false,
        }
}
