//! The original content of an utterance, if it holds more than text.

use serde_json::Value;

use crate::{
    anthropic,
    extras::{Parts, has_difference},
    fields::joined,
    openai_chat,
    pictures::with_pictures,
    vision,
};
use utterd_domain::{
    Role, Utterance,
    context::{Format, Images, Original},
};

/// The content of `utterance` as it came in `format`, or its texts and pictures from another format, in a form that the
/// format's API accepts. `None` if there is nothing but text and calls, or it says something else by now.
pub fn content_parts(utterance: &Utterance, format: Format) -> Option<Original> {
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
    let (content, tokens) = match content.filter(|content| says(content, &parts)) {
        Some(content) => (content, None),
        None => with_pictures(&parts, format)?,
    };
    let mut content = Value::Array(content);
    let json = content.to_string().into();
    let count = vision::mark(&mut content);
    let images = (count > 0).then(|| Images { count, masked: content.to_string().into() });
    Some(Original { json, tokens, images })
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
