//! Pictures from one provider's format in another's.

use serde_json::{Value, json};

use crate::{
    Format, anthropic,
    extras::Parts,
    fields::is_text,
    openai_chat, openai_responses,
    refused::LeftOut,
    texts,
    vision::{self, inline},
};
use utterd_domain::{Role, context};

/// What Anthropic's API accepts as base64.
const ANTHROPICS: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A message in `format`, with the texts and the pictures of `original`, in which `parts` `came`. `None` if there is no
/// picture that the format takes there; pictures that it does not take are named.
///
/// The second value is what the pictures cost there; `None` if the caller declared what they cost.
pub fn with_pictures(
    parts: &Parts<'_>,
    (came, original): (Format, Value),
    format: context::Format,
    left_out: &mut LeftOut,
) -> Option<(Value, Option<u32>)> {
    let is_declared = vision::tokens(&original, came) != parts.more.map_or(0, |more| more.extras_tokens);
    let takes = match format {
        context::Format::OpenAiChat => parts.role == Role::User,
        context::Format::AnthropicMessages => matches!(parts.role, Role::User | Role::Tool),
        context::Format::Text => false,
    };
    let content = list(original);
    // it can be verbatim, from before an edit
    let says = texts::says(&content.iter().collect::<Vec<_>>(), parts.content);
    let (mut written, mut any) = (Vec::new(), false);
    for part in &content {
        let is_media = texts::is_media(texts::kind(part));
        let piece = Piece::of(part).filter(|_| takes && says).and_then(|piece| piece.written(format));
        match piece {
            None if is_media => drop(left_out.insert(texts::kind(part).to_owned())),
            piece => {
                any |= is_media;
                written.extend(piece);
            }
        }
    }
    any.then(|| {
        let written = placed(parts, written, format);
        let target =
            if format == context::Format::AnthropicMessages { Format::Anthropic } else { Format::OpenAiChat };
        let cost = (!is_declared).then(|| vision::tokens(&written, target));
        (written, cost)
    })
}

/// A message in the format that it came in.
pub fn original(parts: &Parts<'_>, came: Format) -> Value {
    let kept = parts.kept(came);
    match came {
        Format::OpenAiChat => openai_chat::message(parts, kept.as_ref()).0,
        Format::Anthropic => anthropic::blocks(parts, kept.as_ref()).0,
        _ => openai_responses::items(parts, kept.as_ref()).0,
    }
}

/// The tokens of the pictures among the extras of `parts`.
pub fn picture_tokens(parts: &Parts<'_>) -> u32 {
    parts.first_kept(&crate::message::FORMATS).map_or(0, |came| vision::tokens(&original(parts, came), came))
}

/// The message of `parts` with this content.
fn placed(parts: &Parts<'_>, content: Vec<Value>, format: context::Format) -> Value {
    match (format, parts.role) {
        (context::Format::OpenAiChat, _) => {
            let mut message = openai_chat::message(parts, None).0;
            message["content"] = content.into();
            message
        }
        (_, Role::Tool) => {
            json!([{"type": "tool_result", "tool_use_id": parts.tool_call_id(), "content": content}])
        }
        _ => content.into(),
    }
}

/// The parts of a message, whichever the format: a result's content, and an item's, is in the only element.
fn list(mut message: Value) -> Vec<Value> {
    let (only, within) = match message.as_array().map(Vec::as_slice) {
        Some([block]) if block["type"] == "tool_result" => (true, "content"),
        Some([item]) if texts::kind(item).ends_with(texts::OUTPUT) => (true, "output"),
        Some([item]) if item.get("role").is_some() => (true, "content"),
        Some(_) => return message.as_array_mut().map(std::mem::take).unwrap_or_default(),
        None => (false, "content"),
    };
    let content = if only { message[0][within].take() } else { message[within].take() };
    match content {
        Value::Array(parts) => parts,
        other => vec![other],
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
            Some("image_url" | "input_image" | "computer_screenshot") => {
                picture(&part["image_url"], &part["detail"])
            }
            Some("image") => Some(Self::Picture { url: of_source(&part["source"])?, detail: None }),
            _ => {
                let said = texts::of(part);
                (!said.is_empty()).then_some(Self::Text(said))
            }
        }
    }

    /// As a part or block of `format`; `None` if its API refuses it.
    fn written(&self, format: context::Format) -> Option<Value> {
        match format {
            context::Format::AnthropicMessages => self.block(),
            _ => Some(self.part()),
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
