//! What goes to OpenAI's API, and those like it, of a message that came in its format.

use serde_json::{Map, Value};

use crate::{
    extras::Parts,
    openai_chat::{SAID, canonical},
    refused::{FRAMEWORKS, LeftOut, is_nothing, strip},
    texts,
};
use utterd_domain::Role;

/// The fields of a message that is no answer. Others are its maker's own, such as a time: the API refuses them.
const ASKED: &str = "content name role tool_call_id";

/// Whether the API refuses a field of an object of this type.
fn refuses(kind: &str, field: &str, _: &Value) -> bool {
    // what OpenAI's packages add to an answer that they parse
    matches!((kind, field), ("", "parsed") | ("function", "parsed_arguments"))
}

/// The message of `parts` as it came (`rendered`), without what the API refuses. `None` if nothing is said or called.
pub fn sent(parts: &Parts<'_>, rendered: Value, left_out: &mut LeftOut) -> Option<Value> {
    let Value::Object(mut plain) = parts.plain(canonical(parts)) else { return None };
    let mut sent = rendered;
    strip(&mut sent, "", refuses, left_out);
    let Value::Object(fields) = &mut sent else { return None };
    fields.retain(|name, _| !texts::listed(FRAMEWORKS, name));
    if parts.role != Role::Assistant {
        fields.retain(|name, value| {
            let known = texts::listed(ASKED, name);
            left_out.extend((!known && !is_nothing(value)).then(|| name.clone()));
            known
        });
    }
    if let Some(Value::Array(content)) = fields.get_mut("content") {
        content.retain(|part| part["type"] != "text" || part["text"] != "");
    }
    if parts.role != Role::System || fields["role"] != "developer" {
        put(fields, &mut plain, "role");
    }
    if fields.contains_key("name") {
        put(fields, &mut plain, "name");
    }
    let calls = fields.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
    if calls != parts.calls().len() || calls == 0 {
        // calls by their older name, or by none
        put(fields, &mut plain, "tool_calls");
    } else if let Some(Value::Array(repaired)) = plain.shift_remove("tool_calls") {
        let own = fields.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
        for (own, mut repaired) in own.filter_map(Value::as_object_mut).zip(repaired) {
            own.insert("id".into(), repaired["id"].take());
        }
    }
    if !parts.calls().is_empty() {
        fields.shift_remove("function_call");
    }
    if parts.role == Role::Tool {
        put(fields, &mut plain, "tool_call_id");
    }
    let holds = |name: &&str| fields.get(*name).is_some_and(holds);
    let beside = parts.role == Role::Assistant && SAID[1..].iter().any(holds);
    let is_silent = parts.role == Role::Assistant && (beside || !parts.calls().is_empty());
    match fields.get("content") {
        None | Some(Value::Null) if is_silent => {}
        Some(Value::String(_)) => {}
        Some(content) if self::holds(content) => {}
        _ => put(fields, &mut plain, "content"),
    }
    let says = parts.role == Role::Tool || !parts.content.is_empty() || !parts.calls().is_empty();
    let shows = texts::parts(&sent["content"]).iter().any(|part| !texts::is_text(texts::kind(part)));
    (says || beside || shows).then_some(sent)
}

/// Whether a field holds anything.
fn holds(value: &Value) -> bool {
    !matches!(value, Value::Null) && *value != "" && value.as_array().is_none_or(|parts| !parts.is_empty())
}

/// Replaces a field with that of the canonical form, if it has one.
fn put(fields: &mut Map<String, Value>, plain: &mut Map<String, Value>, name: &str) {
    match plain.shift_remove(name) {
        Some(value) => drop(fields.insert(name.to_owned(), value)),
        None => drop(fields.shift_remove(name)),
    }
}

/// Whether a message says `said`.
pub fn says(message: &Value, said: &str) -> bool {
    let fields: Vec<&Value> = SAID.iter().filter_map(|name| message.get(*name)).collect();
    let fields: Vec<&Value> = match fields.iter().filter(|value| holds(value)).count() {
        0 => fields,
        _ => fields.into_iter().filter(|value| holds(value)).collect(),
    };
    texts::says(&fields, said)
}

/// The words that a message sends beside what it says: the model's thoughts, and fields that are not known.
pub fn words(message: &Value) -> String {
    const TOLD: [&str; 5] = ["role", "name", "tool_calls", "tool_call_id", "function_call"];
    let fields = message.as_object().into_iter().flatten();
    let beside = fields.filter(|(name, _)| !TOLD.contains(&name.as_str()) && !SAID.contains(&name.as_str()));
    let thoughts = texts::thoughts(&message["content"]);
    let words = beside.map(|(_, value)| texts::words(value)).chain([thoughts]);
    words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
}
