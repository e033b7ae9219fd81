//! Pictures from one provider's format in another's.

use serde_json::{Value, json};

use crate::{
    Format,
    extras::Parts,
    providers,
    refused::LeftOut,
    texts,
    vision::{self, Picture, Source},
};
use utterd_domain::{
    Role,
    context::{self, wording::says},
};

/// What Anthropic's API accepts as base64.
const ANTHROPICS: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A message in `format`, with the texts and the pictures of `original`, in which `parts` `came`. `None` if there is no
/// picture that the format takes there; pictures that it does not take are named.
///
/// The second value is what the pictures cost there; `None` if the caller declared what they cost.
pub fn with_pictures(
    parts: &Parts<'_>,
    (came, original): (Format, Vec<Value>),
    format: context::Format,
    left_out: &mut LeftOut,
) -> Option<(Value, Option<u32>)> {
    let takes = match format {
        context::Format::OpenAiChat => parts.role == Role::User,
        context::Format::AnthropicMessages => matches!(parts.role, Role::User | Role::Tool),
        context::Format::Text => false,
    };
    let content = content(original);
    // it can be verbatim, from before an edit
    let takes = takes && texts::says(&[&content], parts.content);
    let (mut written, mut any) = (Vec::new(), false);
    for part in texts::parts(&content) {
        let is_media = texts::is_media(texts::kind(part));
        match translated(part, format).filter(|_| takes) {
            None if is_media => drop(left_out.insert(texts::kind(part).to_owned())),
            translated => {
                any |= is_media;
                written.extend(translated);
            }
        }
    }
    any.then(|| {
        let written = placed(parts, written, format);
        let is_declared = vision::tokens(&content, came) != parts.more.map_or(0, |more| more.extras_tokens);
        let cost = vision::tokens(&written, providers::of_context(format).format);
        (written, (!is_declared).then_some(cost))
    })
}

/// The tokens of the pictures among the extras of `parts`.
pub fn picture_tokens(parts: &Parts<'_>) -> u32 {
    let came = providers::origin(parts);
    came.map_or(0, |came| vision::tokens(&Value::Array(came.original(parts)), came.format))
}

/// The message of `parts` with this content.
fn placed(parts: &Parts<'_>, content: Vec<Value>, format: context::Format) -> Value {
    match (format, parts.role) {
        (context::Format::OpenAiChat, _) => {
            let mut message: Value = providers::of_context(format).plain(parts).pop().unwrap_or_default();
            message["content"] = content.into();
            message
        }
        (_, Role::Tool) => {
            json!([{"type": "tool_result", "tool_use_id": parts.tool_call_id(), "content": content}])
        }
        _ => content.into(),
    }
}

/// The content of a message, whichever the format: that of a result, and of an item, is in the only element.
fn content(mut original: Vec<Value>) -> Value {
    let within = match original.as_slice() {
        [block] if block["type"] == "tool_result" => "content",
        [item] if texts::kind(item).ends_with(texts::OUTPUT) => "output",
        [message] if message.get("role").is_some() => "content",
        _ => return original.into(),
    };
    match original[0][within].take() {
        Value::Array(parts) => parts.into(),
        one => json!([one]),
    }
}

/// A part or block of any format as one of `format`: a text or a picture. `None` if its API refuses it.
fn translated(part: &Value, format: context::Format) -> Option<Value> {
    let Some(picture) = Picture::of(part) else {
        let said = texts::of(part);
        return says(&said, format).then(|| json!({"type": "text", "text": said}));
    };
    match format {
        context::Format::AnthropicMessages => block(&picture),
        context::Format::OpenAiChat | context::Format::Text => chat_part(&picture),
    }
}

/// A picture as a part of OpenAI's chat.
fn chat_part(picture: &Picture<'_>) -> Option<Value> {
    let url = match picture.source {
        Source::Url(url) if is_address(url) => url.to_owned(),
        Source::Inline { media_type, data } if !media_type.is_empty() && !data.is_empty() => {
            format!("data:{media_type};base64,{data}")
        }
        _ => return None,
    };
    let mut part = json!({"type": "image_url", "image_url": {"url": url}});
    picture.detail.inspect(|detail| part["image_url"]["detail"] = (*detail).into());
    Some(part)
}

/// A picture as a block of Anthropic's.
fn block(picture: &Picture<'_>) -> Option<Value> {
    let source = match picture.source {
        Source::Url(url) if is_address(url) => json!({"type": "url", "url": url}),
        Source::Inline { media_type, data } if ANTHROPICS.contains(&media_type) => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        _ => return None,
    };
    Some(json!({"type": "image", "source": source}))
}

fn is_address(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
