//! The original content of an utterance, if it holds more than text.

use serde_json::Value;

use crate::{
    anthropic,
    extras::{Parts, has_difference},
    fields::joined,
    openai_chat,
    pictures::with_pictures,
};
use utterd_domain::{Role, Utterance, context::Format};

/// The content of `utterance` as it came in `format`, or its texts and pictures from another format: a JSON array of
/// parts, or blocks, that the format's API accepts. `None` if there is nothing but text and calls, or it says something
/// else by now.
pub fn content_parts(utterance: &Utterance, format: Format) -> Option<String> {
    let extras = utterance.more.as_ref()?.extras_json.as_deref()?;
    if !has_difference(extras) || utterance.role == Role::System {
        return None;
    }
    let parts = Parts::from(utterance);
    let content = match format {
        Format::OpenAiChat => openai_chat::accepted_content(&parts),
        Format::AnthropicMessages => anthropic::accepted_content(&parts),
        Format::Text => None,
    };
    let content =
        content.filter(|content| says(content, &parts)).or_else(|| with_pictures(&parts, format))?;
    Some(Value::Array(content).to_string())
}

/// Whether the texts of `content` are those of `parts`.
fn says(content: &[Value], parts: &Parts<'_>) -> bool {
    match (parts.role, content) {
        // a result is one block with content of its own
        (Role::Tool, [block]) if block["type"] == "tool_result" => match &block["content"] {
            Value::Array(blocks) => joined(blocks) == parts.content,
            text => text.as_str().unwrap_or_default() == parts.content,
        },
        _ => joined(content) == parts.content,
    }
}
