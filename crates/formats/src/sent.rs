//! What of a message goes to a model.
//!
//! A message goes back to the format that it came in as it came, block by block and field by field: its provider
//! made it, or would accept it. Only what the API is known to refuse is left out; each format lists that in its
//! `sent.rs`. Another format gets the texts and the pictures. Whatever is left out has its name in a warning.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::{
    Format, anthropic,
    extras::{Parts, has_difference},
    openai_chat,
    pictures::with_pictures,
    provider::Provider,
    providers,
    refused::{FRAMEWORKS, LeftOut, is_nothing, named},
    texts::{self, listed},
    vision,
};
use utterd_domain::{
    Role, Utterance,
    context::{self, Content, Images, Original},
};

/// Fields that another format has in a place of its own, or that say nothing.
const CARRIED: &str = "action arguments audio cache_control call_id code content custom function function_call id index \
    input logprobs name operation output phase refusal role status text tool_call_id tool_calls tool_use_id type";

/// What of `utterance` goes out in `format` beyond its text and its calls.
pub fn content(utterance: &Utterance, format: context::Format) -> Content {
    let extras = utterance.more.as_ref().and_then(|more| more.extras_json.as_deref()).unwrap_or_default();
    let parts = Parts::from(utterance);
    let Some(came) = providers::origin(&parts).filter(|_| has_difference(extras)) else {
        return Content::default();
    };
    let (message, mut left_out) = (came.original(&parts), LeftOut::new());
    let original = if format != context::Format::Text && came.format == providers::of_context(format).format {
        as_it_came(&parts, came, message, &mut left_out)
    } else {
        message.iter().for_each(|part| name(part, &mut left_out));
        let sent = with_pictures(&parts, (came.format, message), format, &mut left_out);
        sent.map(|(sent, tokens)| marked(sent, String::new(), tokens))
    };
    Content { original, left_out: left_out.into_iter().map(Into::into).collect() }
}

/// What goes out, with its images and without.
fn marked(mut sent: Value, words: String, tokens: Option<u32>) -> Original {
    let json = sent.to_string().into();
    let count = vision::mark(&mut sent);
    let images = (count > 0).then(|| Images { count, masked: sent.to_string().into() });
    Original { json, words: words.into(), tokens, images }
}

/// A message as it came, and the words in it beside its text; `None` if it is no more than text and calls.
fn as_it_came(
    parts: &Parts<'_>,
    came: &Provider,
    message: Vec<Value>,
    left_out: &mut LeftOut,
) -> Option<Original> {
    let is_chat = came.format == Format::OpenAiChat;
    // it can be verbatim, from before an edit
    let says = match is_chat {
        true => message.iter().all(|message| openai_chat::says(message, parts.content)),
        false => anthropic::says(&message, parts.content),
    };
    let mut sent = (came.sent)(parts, message, left_out);
    if !is_chat {
        left_out.extend(anthropic::left_of_message(parts));
    }
    // the texts of instructions are all that a request has of them
    let is_system = !is_chat && parts.role == Role::System;
    if !says || is_system || sent.is_empty() || sent == came.plain(parts) {
        return None;
    }
    Some(match is_chat {
        true => {
            let sent = sent.swap_remove(0);
            let words = openai_chat::words(&sent);
            marked(sent, words, None)
        }
        false => {
            let sent = Value::Array(sent);
            let words = texts::thoughts(&sent);
            marked(sent, words, None)
        }
    })
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
