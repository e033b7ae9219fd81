//! Pictures from one provider's format in another's.

use serde_json::{Value, json};

use crate::{
    Format, anthropic,
    extras::Parts,
    fields::{is_text, joined},
    openai_chat, openai_responses,
    vision::{self, inline},
};
use utterd_domain::{Role, context};

/// What Anthropic's API accepts as base64.
const ANTHROPICS: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The content of `parts`, which came in another format than `format` or in a form that its API refuses: its texts and
/// pictures as content of `format`, and nothing else. `None` without pictures, or if the API takes none there.
///
/// The second value is what the pictures cost there; `None` if the caller declared what they cost.
pub fn with_pictures(parts: &Parts<'_>, format: context::Format) -> Option<(Vec<Value>, Option<u32>)> {
    let takes = match format {
        context::Format::OpenAiChat => parts.role == Role::User,
        context::Format::AnthropicMessages => matches!(parts.role, Role::User | Role::Tool),
        context::Format::Text => false,
    };
    // it can be verbatim, from before an edit
    let (source, content) =
        original(parts).filter(|(_, content)| takes && joined(content) == parts.content)?;
    let pieces = content.iter().filter_map(Piece::of);
    let written: Vec<Value> = match format {
        context::Format::AnthropicMessages => pieces.filter_map(|piece| piece.block()).collect(),
        _ => pieces.map(|piece| piece.part()).collect(),
    };
    if !written.iter().any(vision::is_picture) {
        return None;
    }
    let is_declared = tokens(&content, source) != parts.more.map_or(0, |more| more.extras_tokens);
    let target =
        if format == context::Format::AnthropicMessages { Format::Anthropic } else { Format::OpenAiChat };
    let cost = (!is_declared).then(|| tokens(&written, target));
    let written = match parts.role {
        Role::Tool => {
            vec![json!({"type": "tool_result", "tool_use_id": parts.tool_call_id(), "content": written})]
        }
        _ => written,
    };
    Some((written, cost))
}

/// The tokens of the pictures among the extras of `parts`.
pub fn picture_tokens(parts: &Parts<'_>) -> u32 {
    original(parts).map_or(0, |(format, content)| tokens(&content, format))
}

fn tokens(content: &[Value], format: Format) -> u32 {
    content.iter().map(|part| vision::tokens(part, format)).fold(0, u32::saturating_add)
}

/// The content as it came, and in which format.
fn original(parts: &Parts<'_>) -> Option<(Format, Vec<Value>)> {
    const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];
    let format = parts.first_kept(&FORMATS)?;
    let kept = parts.kept(format);
    let mut said = match format {
        Format::OpenAiChat => openai_chat::message(parts, kept.as_ref()).0,
        Format::Anthropic => anthropic::blocks(parts, kept.as_ref()).0,
        _ => openai_responses::items(parts, kept.as_ref()).0,
    };
    // a result's content, and an item's, is in the only element
    let content = match said.as_array_mut().map(Vec::as_mut_slice) {
        _ if format == Format::OpenAiChat => said["content"].take(),
        Some([block]) if block["type"] == "tool_result" => block["content"].take(),
        Some([item]) if item["type"] == "function_call_output" => item["output"].take(),
        Some([item]) if item.get("role").is_some() => item["content"].take(),
        _ => said,
    };
    Some((format, list(content)?))
}

fn list(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

/// A piece of content.
enum Piece {
    Text(String),
    Picture {
        /// Where it is, or a `data:` URL.
        url: String,
        /// How closely OpenAI's models look at it.
        detail: Option<String>,
    },
}

impl Piece {
    /// The piece that a part or block of any format is.
    fn of(part: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let picture = |url: &Value, detail: &Value| {
            let url = url.as_str().filter(|url| is_address(url))?;
            Some(Self::Picture { url: url.to_owned(), detail: text(detail) })
        };
        match part["type"].as_str() {
            Some("image_url") if part["image_url"].is_object() => {
                picture(&part["image_url"]["url"], &part["image_url"]["detail"])
            }
            Some("image_url" | "input_image") => picture(&part["image_url"], &part["detail"]),
            Some("image") => Some(Self::Picture { url: of_source(&part["source"])?, detail: None }),
            _ => {
                let said = joined(std::slice::from_ref(part));
                (!said.is_empty()).then_some(Self::Text(said))
            }
        }
    }

    /// As a part of OpenAI's chat.
    fn part(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Picture { url, detail: None } => json!({"type": "image_url", "image_url": {"url": url}}),
            Self::Picture { url, detail } => {
                json!({"type": "image_url", "image_url": {"url": url, "detail": detail}})
            }
        }
    }

    /// As a block of Anthropic's; `None` if its API refuses such a text or picture.
    fn block(&self) -> Option<Value> {
        let source = match self {
            Self::Text(text) if text.trim().is_empty() => return None,
            Self::Text(text) => return Some(json!({"type": "text", "text": text})),
            Self::Picture { url, .. } => match inline(url) {
                Some((media_type, data)) if ANTHROPICS.contains(&media_type) => {
                    json!({"type": "base64", "media_type": media_type, "data": data})
                }
                Some(_) => return None,
                None => json!({"type": "url", "url": url}),
            },
        };
        Some(json!({"type": "image", "source": source}))
    }
}

fn is_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://") || inline(url).is_some()
}

/// The URL of a source of Anthropic's; `None` if only Anthropic can open it.
fn of_source(source: &Value) -> Option<String> {
    match source["type"].as_str()? {
        "base64" if is_text(&source["media_type"]) && is_text(&source["data"]) => {
            let [media_type, data] =
                ["media_type", "data"].map(|key| source[key].as_str().unwrap_or_default());
            Some(format!("data:{media_type};base64,{data}"))
        }
        "url" => source["url"].as_str().filter(|url| is_address(url)).map(str::to_owned),
        _ => None,
    }
}
