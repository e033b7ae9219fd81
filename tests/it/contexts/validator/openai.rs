//! OpenAI's chat completions: the reference of `messages`, and what the API answers with 400.
//!
//! "An assistant message with 'tool_calls' must be followed by tool messages responding to each
//! 'tool_call_id'"; "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'".
//! The reference allows empty text; a message without text and calls is a fault here.

use serde_json::{Map, Value};

use super::{Fault, Faults, Rule};

/// The faults of `messages_json`.
pub fn faults(messages_json: &str) -> Vec<Fault> {
    let mut faults = Faults::default();
    let messages = faults.messages(messages_json);
    let mut open: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let is_result = message["role"] == "tool";
        if !is_result {
            close(&mut open, &mut faults);
            answered.clear();
        }
        faults.message = place;
        let Some(fields) = faults.object(message) else { continue };
        check(fields, &mut faults);
        if is_result {
            answer(fields, &mut open, &mut answered, &mut faults);
        }
        open.extend(call_ids(message));
    }
    close(&mut open, &mut faults);
    faults.found
}

fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.filter_map(|call| call["id"].as_str())
}

/// The calls of the last message must be answered before the next.
fn close(open: &mut Vec<&str>, faults: &mut Faults) {
    for id in open.drain(..) {
        faults.add(Rule::Unanswered, id);
    }
}

fn answer<'a>(
    fields: &'a Map<String, Value>,
    open: &mut Vec<&'a str>,
    answered: &mut Vec<&'a str>,
    faults: &mut Faults,
) {
    let Some(id) = faults.string(fields, "tool_call_id") else { return };
    match open.iter().position(|open| *open == id) {
        Some(place) => answered.push(open.remove(place)),
        None if answered.contains(&id) => faults.add(Rule::AnsweredTwice, id),
        None => faults.add(Rule::Orphan, id),
    }
}

fn check(fields: &Map<String, Value>, faults: &mut Faults) {
    match faults.string(fields, "role") {
        Some("system" | "developer") => {
            faults.only(fields, &["role", "content", "name"]);
            content(fields, &["text"], faults);
        }
        Some("user") => {
            faults.only(fields, &["role", "content", "name"]);
            content(fields, &["text", "image_url", "input_audio", "file"], faults);
        }
        Some("assistant") => assistant(fields, faults),
        Some("tool") => {
            // the reference has no name here, OpenAI's cookbook has
            faults.only(fields, &["role", "content", "tool_call_id", "name"]);
            result(fields, faults);
        }
        Some(other) => faults.add(Rule::Role, other),
        None => {}
    }
    if fields.contains_key("name") {
        let name = faults.string(fields, "name").unwrap_or_default();
        let accepted = |letter: char| !letter.is_whitespace() && !"<|\\/>".contains(letter);
        let holds = !name.is_empty() && name.chars().count() <= 64 && name.chars().all(accepted);
        faults.unless(holds, Rule::Name, || format!("{name:?}"));
    }
}

fn assistant(fields: &Map<String, Value>, faults: &mut Faults) {
    faults.only(fields, &["role", "content", "name", "refusal", "audio", "tool_calls"]);
    let calls = fields.get("tool_calls");
    if calls.is_none() || !fields.get("content").is_none_or(Value::is_null) {
        content(fields, &["text", "refusal"], faults);
    }
    let Some(calls) = calls else { return };
    let list = calls.as_array().map_or(&[][..], Vec::as_slice);
    faults.unless(!list.is_empty(), Rule::Shape, || format!("tool_calls is {calls}"));
    let mut ids = Vec::new();
    for call in list {
        ids.extend(check_call(call, faults));
    }
    let distinct = ids.iter().enumerate().all(|(place, id)| !ids[..place].contains(id));
    faults.unless(distinct, Rule::UniqueId, || format!("{ids:?}"));
}

fn check_call<'a>(call: &'a Value, faults: &mut Faults) -> Option<&'a str> {
    let fields = faults.object(call)?;
    faults.only(fields, &["id", "type", "function"]);
    faults.unless(call["type"] == "function", Rule::Shape, || format!("type is {}", call["type"]));
    let id = faults.string(fields, "id")?;
    faults.unless(!id.is_empty(), Rule::CallId, || format!("{id:?}"));
    let function = faults.object(&call["function"])?;
    faults.only(function, &["name", "arguments"]);
    if let Some(name) = faults.string(function, "name") {
        faults.word(name, 64, Rule::Name);
    }
    faults.string(function, "arguments");
    Some(id)
}

/// Text, or an array of parts.
fn content(fields: &Map<String, Value>, kinds: &[&str], faults: &mut Faults) {
    match fields.get("content") {
        Some(Value::String(text)) => faults.text(text, str::is_empty),
        Some(Value::Array(parts)) if !parts.is_empty() => {
            for part in parts {
                let kind = part["type"].as_str().unwrap_or_default();
                faults.unless(kinds.contains(&kind), Rule::Shape, || format!("a part of {kind:?}"));
                if kind == "text" {
                    faults.text(part["text"].as_str().unwrap_or_default(), str::is_empty);
                }
            }
        }
        other => faults.add(Rule::Shape, format!("content is {other:?}")),
    }
}

/// A tool can return nothing.
fn result(fields: &Map<String, Value>, faults: &mut Faults) {
    if fields.get("content").and_then(Value::as_str).is_none_or(|text| !text.is_empty()) {
        content(fields, &["text"], faults);
    }
}
