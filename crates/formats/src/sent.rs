//! What of a message goes to a model.
//!
//! A message goes back to the format that it came in as it came, block by block and field by field: its provider
//! made it, or would accept it. Only what the API is known to refuse is left out; the file of each format lists
//! that. Another format gets the texts and the pictures. Whatever is left out has its name in a warning.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::{
    Format, anthropic,
    extras::Parts,
    openai_chat,
    provider::{FRAMEWORKS, LeftOut, Provider, is_nothing, named},
    providers,
    texts::{self, listed},
    vision::{self, Picture},
};
use utterd_domain::{
    Role, Utterance,
    context::{self, Content, Original, wording::says},
};

/// What Anthropic's API accepts as base64.
const ANTHROPICS: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// What a warning calls what stood beside an earlier text.
const EDITED: &str = "parts of a message whose text was edited";
/// Fields that another format has in a place of its own, or that say nothing.
const CARRIED: &str = "action arguments audio cache_control call_id code content custom function function_call id index \
    input logprobs name operation output phase refusal role status text tool_call_id tool_calls tool_use_id type";

/// What of `utterance` goes out in `format` beyond its text and its calls.
pub fn content(utterance: &Utterance, format: context::Format) -> Content {
    let parts = Parts::from(utterance);
    let Some(came) = parts.origin().filter(|_| parts.has_difference()).map(providers::of) else {
        return Content::default();
    };
    let (message, fits) = came.write(&parts, parts.kept(came.format).as_ref());
    let mut left_out: LeftOut = (!fits).then(|| EDITED.to_owned()).into_iter().collect();
    let stored_words = words(came, &message).into();
    let original = if format != context::Format::Text && came.format == providers::of_context(format).format {
        as_it_came(&parts, came, message, &mut left_out)
    } else {
        message.iter().for_each(|part| name(part, &mut left_out));
        with_pictures(&parts, (came.format, message), format, &mut left_out)
    };
    Content { original, stored_words, left_out: left_out.into_iter().map(Into::into).collect() }
}

/// The words of a message beside what it says.
fn words(came: &Provider, message: &[Value]) -> String {
    match message {
        [message] if came.format == Format::OpenAiChat => openai_chat::words(message),
        parts => texts::thoughts(parts),
    }
}

/// A message as it came, and the words in it beside its text; `None` if it is no more than text and calls.
fn as_it_came(
    parts: &Parts<'_>,
    came: &Provider,
    message: Vec<Value>,
    left_out: &mut LeftOut,
) -> Option<Original> {
    let is_chat = came.format == Format::OpenAiChat;
    let mut sent = (came.sent)(parts, message, left_out);
    if !is_chat {
        left_out.extend(anthropic::left_of_message(parts));
    }
    // the texts of instructions are all that a request has of them
    let is_system = !is_chat && parts.role == Role::System;
    if is_system || sent.is_empty() || sent == came.plain(parts) {
        return None;
    }
    let words = words(came, &sent);
    let sent = if is_chat { sent.swap_remove(0) } else { sent.into() };
    let images = vision::images(&sent, came.format);
    Some(Original { json: sent.to_string().into(), words: words.into(), tokens: None, images })
}

/// Names what no other format has a place for: thoughts, parts without words, and fields. Pictures are named where they
/// are translated.
fn name(part: &Value, left_out: &mut LeftOut) {
    let fields = match part {
        Value::Array(parts) => return parts.iter().for_each(|part| name(part, left_out)),
        Value::Object(fields) => fields,
        _ => return,
    };
    let kind = texts::kind(part);
    if is_told(kind, fields) {
        let silent = |name: &str| listed(CARRIED, name) || listed(FRAMEWORKS, name);
        let beyond = fields.iter().filter(|(name, value)| !silent(name) && !is_nothing(value));
        left_out.extend(beyond.map(|(field, _)| named(kind, field)));
        let within = ["content", "output", "tool_calls"].into_iter().filter_map(|name| fields.get(name));
        within.for_each(|within| name(within, left_out));
    } else if !texts::is_media(kind) && !texts::has_words(part) {
        left_out.insert(kind.to_owned());
    }
}

/// Whether it is a message, a text, a call or a result: every format has a place for these.
fn is_told(kind: &str, fields: &Map<String, Value>) -> bool {
    let is_result = kind.ends_with(texts::OUTPUT) || kind == "tool_result";
    let is_message = ["", "message", "function", "custom"].contains(&kind);
    is_result || is_message || texts::is_text(kind) || texts::is_call(kind, fields)
}

/// A message in `format`, with the texts and the pictures of `original`, in which `parts` `came`. `None` if there is no
/// picture that the format takes there; pictures that it does not take are named.
fn with_pictures(
    parts: &Parts<'_>,
    (came, original): (Format, Vec<Value>),
    format: context::Format,
    left_out: &mut LeftOut,
) -> Option<Original> {
    let takes = match format {
        context::Format::OpenAiChat => parts.role == Role::User,
        context::Format::AnthropicMessages => matches!(parts.role, Role::User | Role::Tool),
        context::Format::Text => false,
    };
    let content = content_of(original);
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
        let images = vision::images(&written, providers::of_context(format).format);
        let cost = images.iter().map(|image| image.tokens).fold(0, u32::saturating_add);
        let is_declared = vision::tokens(&content, came) != parts.more.map_or(0, |more| more.extras_tokens);
        let tokens = (!is_declared).then_some(cost);
        Original { json: written.to_string().into(), words: Box::default(), tokens, images }
    })
}

/// The tokens of the pictures among the extras of `parts`.
pub fn picture_tokens(parts: &Parts<'_>) -> u32 {
    let came = parts.origin().map(providers::of);
    came.map_or(0, |came| vision::tokens(&came.original(parts).into(), came.format))
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
fn content_of(mut original: Vec<Value>) -> Value {
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
    let url = match picture.inline {
        Some((media_type, data)) if media_type.is_empty() || data.is_empty() => return None,
        Some((media_type, data)) => format!("data:{media_type};base64,{data}"),
        None => picture.url?.to_owned(),
    };
    let mut part = json!({"type": "image_url", "image_url": {"url": url}});
    picture.detail.inspect(|detail| part["image_url"]["detail"] = (*detail).into());
    Some(part)
}

/// A picture as a block of Anthropic's.
fn block(picture: &Picture<'_>) -> Option<Value> {
    let source = match picture.inline {
        Some((media_type, data)) if ANTHROPICS.contains(&media_type) => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        Some(_) => return None,
        None => json!({"type": "url", "url": picture.url?}),
    };
    Some(json!({"type": "image", "source": source}))
}
