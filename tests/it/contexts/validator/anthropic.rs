//! Anthropic's messages: the reference of `messages` and `system`, and what the API answers with 400.
//!
//! "roles must alternate", "first message must use the user role", "`tool_use` ids were found without
//! `tool_result` blocks immediately after", "each `tool_result` block must have a corresponding `tool_use`
//! block in the previous message", "`tool_use` ids must be unique", "text content blocks must be non-empty"
//! and "must contain non-whitespace text", "final assistant content cannot end with trailing whitespace"; the
//! tool use guide requires the `tool_result` blocks first.

use serde_json::{Map, Value};

use super::{Fault, Faults, Rule};

/// The faults of `messages_json`.
pub fn faults(messages_json: &str) -> Vec<Fault> {
    let mut faults = Faults::default();
    let messages = faults.messages(messages_json);
    let (mut ids, mut open): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut last = "assistant";
    for (place, message) in messages.iter().enumerate() {
        faults.message = place;
        let Some(fields) = faults.object(message) else { continue };
        faults.only(fields, &["role", "content"]);
        let role = faults.string(fields, "role").unwrap_or_default();
        turn(place, role, last, &mut faults);
        let blocks = blocks(fields, role, &mut faults);
        answers(blocks, &mut open, &mut faults);
        for id in calls(blocks) {
            faults.unless(!ids.contains(&id), Rule::UniqueId, || id.to_owned());
            ids.push(id);
            open.push(id);
        }
        last = role;
    }
    open.iter().for_each(|id| faults.add(Rule::Unanswered, *id));
    ending(messages.last(), &mut faults);
    faults.found
}

/// The faults of `system`: a text, or an array of blocks of text.
pub fn system_faults(system: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    match system {
        Value::String(text) => faults.text(text, is_blank),
        Value::Array(blocks) if !blocks.is_empty() => {
            for block in blocks {
                let Some(fields) = faults.object(block) else { continue };
                faults.unless(block["type"] == "text", Rule::Shape, || block.to_string());
                text(fields, &mut faults);
            }
        }
        other => faults.add(Rule::Shape, format!("system is {other}")),
    }
    faults.found
}

fn turn(place: usize, role: &str, last: &str, faults: &mut Faults) {
    match role {
        "user" | "assistant" if place == 0 => {
            faults.unless(role == "user", Rule::FirstIsUser, || role.into())
        }
        "user" | "assistant" => faults.unless(role != last, Rule::Alternation, || role.into()),
        other => faults.add(Rule::Role, other),
    }
}

/// The blocks of a message, each checked.
fn blocks<'a>(fields: &'a Map<String, Value>, role: &str, faults: &mut Faults) -> &'a [Value] {
    match fields.get("content") {
        Some(Value::String(text)) => faults.text(text, is_blank),
        Some(Value::Array(blocks)) if !blocks.is_empty() => {
            blocks.iter().for_each(|block| check(block, role, faults));
            let behind = blocks.iter().skip_while(|block| is_result(block)).any(is_result);
            faults.unless(!behind, Rule::ResultsFirst, String::new);
            return blocks;
        }
        other => faults.add(Rule::Shape, format!("content is {other:?}")),
    }
    &[]
}

fn is_result(block: &Value) -> bool {
    block["type"] == "tool_result"
}

fn check(block: &Value, role: &str, faults: &mut Faults) {
    let Some(fields) = faults.object(block) else { return };
    match (faults.string(fields, "type").unwrap_or_default(), role) {
        ("text", _) => text(fields, faults),
        ("tool_use", "assistant") => tool_use(fields, faults),
        ("tool_result", "user") => tool_result(fields, faults),
        ("thinking", "assistant") if fields.contains_key("signature") => thinking(fields, faults),
        (other, role) => faults.add(Rule::Shape, format!("a block of {other:?} of the {role}")),
    }
}

fn text(fields: &Map<String, Value>, faults: &mut Faults) {
    faults.only(fields, &["type", "text", "cache_control", "citations"]);
    if let Some(text) = faults.string(fields, "text") {
        faults.text(text, is_blank);
    }
}

fn thinking(fields: &Map<String, Value>, faults: &mut Faults) {
    faults.only(fields, &["type", "thinking", "signature"]);
    // the API can leave the thoughts out, and sends their signature alone
    faults.string(fields, "thinking");
    if let Some(signature) = faults.string(fields, "signature") {
        faults.text(signature, str::is_empty);
    }
}

fn tool_use(fields: &Map<String, Value>, faults: &mut Faults) {
    faults.only(fields, &["type", "id", "name", "input", "cache_control"]);
    if let Some(id) = faults.string(fields, "id") {
        faults.word(id, usize::MAX, Rule::CallId);
    }
    if let Some(name) = faults.string(fields, "name") {
        faults.word(name, 128, Rule::Name);
    }
    let input = fields.get("input");
    faults.unless(input.is_some_and(Value::is_object), Rule::Input, || format!("{input:?}"));
}

fn tool_result(fields: &Map<String, Value>, faults: &mut Faults) {
    faults.only(fields, &["type", "tool_use_id", "content", "is_error", "cache_control"]);
    if let Some(id) = faults.string(fields, "tool_use_id") {
        faults.word(id, usize::MAX, Rule::CallId);
    }
    match fields.get("content") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let Some(fields) = faults.object(block) else { continue };
                faults.unless(block["type"] == "text", Rule::Shape, || block.to_string());
                text(fields, faults);
            }
        }
        Some(other) => faults.add(Rule::Shape, format!("content is {other}")),
    }
}

/// This message must answer the calls of the previous one, and nothing else.
fn answers<'a>(blocks: &'a [Value], open: &mut Vec<&'a str>, faults: &mut Faults) {
    let called = std::mem::take(open);
    let results = blocks.iter().filter(|block| is_result(block));
    let mut answered: Vec<&str> = Vec::new();
    for id in results.filter_map(|result| result["tool_use_id"].as_str()) {
        faults.unless(called.contains(&id), Rule::Orphan, || id.to_owned());
        faults.unless(!answered.contains(&id), Rule::AnsweredTwice, || id.to_owned());
        answered.push(id);
    }
    for id in called.iter().filter(|id| !answered.contains(id)) {
        faults.add(Rule::Unanswered, *id);
    }
}

fn calls(blocks: &[Value]) -> impl Iterator<Item = &str> {
    blocks.iter().filter(|block| block["type"] == "tool_use").filter_map(|block| block["id"].as_str())
}

fn ending(last: Option<&Value>, faults: &mut Faults) {
    let Some(last) = last.filter(|last| last["role"] == "assistant") else { return };
    let block = last["content"].as_array().and_then(|blocks| blocks.last());
    let text = block.map_or(&last["content"], |block| &block["text"]).as_str().unwrap_or_default();
    faults.unless(text == text.trim_end(), Rule::TrailingSpace, || format!("{text:?}"));
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
