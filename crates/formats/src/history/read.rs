//! A JSON array of messages in the form of OpenAI's chat or Anthropic's messages, each read as an import reads
//! it.
//!
//! Everything but words, calls and results (images, thinking) is left out, with a warning; fields that a
//! format does not have are the caller's own.

use serde_json::Value;

use crate::{
    anthropic,
    fields::is_text,
    history::{Incoming, MAX_MESSAGES_READ, Warning, WarningKind},
    openai_chat,
    place::{self, Notes, Place},
    surrogates::replace_surrogates,
    texts::{self, kind},
    weight::weight,
};
use utterd_domain::{
    Draft, Reason, Refusal, Result, Role, Size,
    history::{DropReason, Dropped, Entry},
    limits::MAX_HISTORY_WEIGHT,
};

/// The field of the request.
const FIELD: &str = "messages_json";

/// Reads a history; unusable messages are recorded as dropped.
///
/// Lone surrogates, which come from programs that cut text anywhere, become U+FFFD.
///
/// Refuses anything that is not a JSON array or has more than [`MAX_MESSAGES_READ`] messages.
pub fn read(json: &str) -> Result<Incoming> {
    let bytes = weight(json.as_bytes());
    if bytes > MAX_HISTORY_WEIGHT {
        let text = format!("has too many parts: parsed, it takes more than {MAX_HISTORY_WEIGHT} bytes");
        return Err(Refusal::too_large_since(FIELD, Size { bytes, limit: MAX_HISTORY_WEIGHT }, text));
    }
    let value: Value = serde_json::from_str(&replace_surrogates(json)).map_err(|error| {
        Refusal::invalid(FIELD, format!("is not JSON ({error}); accepted: an array of messages"))
    })?;
    let Value::Array(messages) = value else {
        let text = format!("is {}; accepted: an array of messages", place::kind(&value));
        return Err(Refusal::invalid(FIELD, text));
    };
    if messages.len() > MAX_MESSAGES_READ {
        let text = format!("has {} messages; accepted: at most {MAX_MESSAGES_READ}", messages.len());
        return Err(Refusal::field(Reason::BatchTooLarge, FIELD, text));
    }
    let mut incoming = Incoming::of(FIELD, messages.len(), json.len());
    for (index, message) in messages.into_iter().enumerate() {
        incoming.read(index, message);
    }
    Ok(incoming)
}

impl Incoming {
    /// Adds the drafts of a message.
    fn read(&mut self, index: usize, message: Value) {
        let list = Place::root(FIELD);
        let place = list.index(index);
        let left_out: Vec<String> = left_out(&message["content"]).into_iter().map(str::to_owned).collect();
        let drafts = match drafts(message, &place) {
            Ok(drafts) => drafts,
            Err(refusal) => return self.dropped.push(dropped(index, &refusal, &place)),
        };
        if !left_out.is_empty() && !drafts.iter().any(says_something) {
            let text = format!("{place}: content has nothing but blocks of {left_out:?}; accepted: text");
            return self.dropped.push(Dropped { index, reason: DropReason::InvalidContent, text });
        }
        if !left_out.is_empty() {
            let text = format!("{place}: blocks of {left_out:?} were left out; accepted: text");
            self.warnings.push(Warning { kind: WarningKind::PartsLeftOut, text });
        }
        self.entries.extend(drafts.into_iter().map(|draft| Entry { index: Some(index), draft }));
    }
}

/// The drafts of a message: several if it holds Anthropic's results.
fn drafts(mut message: Value, place: &Place<'_>) -> Result<Vec<Draft>> {
    let mut notes = Notes::default();
    if let Some(fields) = message.as_object_mut() {
        fields.retain(|field, value| field != "name" || is_text(value));
    }
    match is_anthropic(&message) {
        true => anthropic::read(message, place, &mut notes),
        false => Ok(vec![openai_chat::read(message, place, &mut notes)?]),
    }
}

fn is_anthropic(message: &Value) -> bool {
    texts::parts(&message["content"]).iter().any(|block| matches!(kind(block), "tool_use" | "tool_result"))
}

/// The types of the blocks that are not carried over.
fn left_out(content: &Value) -> Vec<&str> {
    let left_out = |block| match kind(block) {
        "tool_use" => Vec::new(),
        "tool_result" => left_out(&block["content"]),
        kind if block.is_string() || texts::is_text(kind) || texts::has_words(block) => Vec::new(),
        other => vec![other],
    };
    texts::parts(content).iter().flat_map(left_out).collect()
}

fn says_something(draft: &Draft) -> bool {
    draft.role == Role::Tool || !draft.content.is_empty() || !draft.tool_calls().is_empty()
}

/// The message at `index`, which cannot be read.
fn dropped(index: usize, refusal: &Refusal, place: &Place<'_>) -> Dropped {
    let text = refusal.to_string();
    let within = text.strip_prefix(&place.to_string()).unwrap_or_default();
    let field = within.split(':').next().unwrap_or_default();
    let of_call = field.ends_with(".id") || field.ends_with(".name");
    let reason = match field.split(['.', '[']).nth(1) {
        None => DropReason::NotAMessage,
        Some("role") => DropReason::UnknownRole,
        Some("tool_calls" | "function_call") => DropReason::InvalidToolCall,
        Some("content") if of_call => DropReason::InvalidToolCall,
        Some("content") => DropReason::InvalidContent,
        Some(_) => DropReason::InvalidField,
    };
    Dropped { index, reason, text }
}
