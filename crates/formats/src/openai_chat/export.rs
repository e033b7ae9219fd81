//! Writes utterances as messages.

use serde::Serialize;
use serde_json::Value;

use crate::{
    Format, Losses, Repairs, Whole,
    extras::{self, Parts},
    openai_chat::{canonical, sent},
    refused::LeftOut,
};

/// The format of this file.
const FORMAT: Format = Format::OpenAiChat;

/// Writes the conversation: an array of messages, or the object with `messages` that it came as.
pub fn export(whole: &Whole<'_>, repairs: Repairs, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let lines = whole.lines(&said, FORMAT, repairs, losses);
    let mut messages = Vec::with_capacity(lines.len());
    for line in &lines {
        let parts = line.parts();
        let rendered = whole.rendered(line.place, message(&parts, parts.kept(FORMAT).as_ref()), losses);
        if !repairs.all {
            messages.push(rendered);
            continue;
        }
        let mut left_out = LeftOut::new();
        messages.extend(sent(&parts, rendered, &mut left_out));
        whole.note_left_out(line.place, left_out, losses);
    }
    match extras::document(&said, FORMAT) {
        Some(mut document) => {
            document.insert("messages".into(), Value::Array(messages));
            Value::Object(document)
        }
        None => Value::Array(messages),
    }
}

/// The same as [`message`], written as JSON.
pub fn written(parts: &Parts<'_>, kept: Option<&Value>) -> String {
    #[derive(Serialize)]
    struct Plain<'a> {
        role: &'a str,
        content: &'a str,
    }
    let plain = Plain { role: parts.role.as_str(), content: parts.content };
    match (parts.more, serde_json::to_string(&plain)) {
        (None, Ok(text)) => text,
        _ => message(parts, kept).0.to_string(),
    }
}

/// One utterance as a message that includes its kept details, and whether these still fit.
pub fn message(parts: &Parts<'_>, kept: Option<&Value>) -> (Value, bool) {
    parts.render(kept, || canonical(parts))
}
