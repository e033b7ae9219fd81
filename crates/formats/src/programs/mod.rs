//! The files that ChatGPT, Claude, Claude Code, Codex and pi keep or export.
//!
//! Each of them writes the messages of a model's API, with an id, a time and often a branch. A file is split into such
//! messages, which the API's own format then reads. Anything that a model was not shown, such as events of the
//! program, is left out. None of the programs documents its files, so unknown parts are skipped.

pub mod chatgpt;
pub mod claude;
pub mod claude_code;
pub mod codex;
mod condense;
mod does;
pub mod pi;
mod settled;
mod tree;

pub use condense::{Condenser, session};
pub use settled::{complete, settled};

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::{
    Format, Parsed, fit_id,
    place::{Notes, Place},
    provider::Provider,
    repair, time,
};
use utterd_domain::{Refusal, Timestamp};

/// The label of a branch, with the id of the conversation that it left.
pub const BRANCH_OF: &str = "branch_of";

/// A message in the form of an API.
#[derive(Clone)]
struct Message {
    /// The position in the file of what it comes from, or begins with.
    node: usize,
    /// Its id in the file.
    id: Option<String>,
    /// When it was said.
    time: Option<Timestamp>,
    /// The message.
    value: Value,
}

/// Reads a conversation named `id`: its messages as those of `provider`, then their ids and times.
fn conversation(
    id: String,
    messages: Vec<Message>,
    provider: &Provider,
    notes: &mut Notes,
) -> Result<Parsed, Refusal> {
    let (mut origins, mut values) = (Vec::new(), Vec::new());
    for Message { id, time, value, .. } in messages {
        origins.push((id, time));
        values.push(value);
    }
    let place = Place::root(&id);
    let mut parsed = repair::conversation(provider, values.into(), &place.field("messages"), notes)?;
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for sourced in &mut parsed.said {
        let Some((id, time)) = origins.get(sourced.index) else { continue };
        sourced.draft.create_time = *time;
        let Some(id) = id.as_deref() else { continue };
        // One message can hold several utterances: a call and its result, for example.
        let uses = uses.entry(id).and_modify(|uses| *uses += 1).or_default();
        let id = if *uses == 0 { id.to_owned() } else { format!("{id}/{uses}") };
        sourced.draft.id = Some(fit_id(&id).into());
    }
    parsed.id = Some(id);
    parsed.start = parsed.said.iter().find_map(|sourced| sourced.draft.create_time);
    Ok(parsed)
}

/// A text of an object; `None` also if it is empty.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A time in ISO 8601 of an object.
fn time_of(value: &Value, name: &str) -> Option<Timestamp> {
    time::read(text(value, name)?)
}

/// The elements of an array of an object, none if there is no such array.
fn elements<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// The labels among `pairs` that have a value.
fn labels<const N: usize>(pairs: [(&str, Option<&str>); N]) -> BTreeMap<String, String> {
    let given = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.map(|(name, value)| (name, fit_id(value).into_owned())).collect()
}

/// The conversations of a file that is an array of them, or holds one per line.
fn each(values: Vec<Value>) -> Vec<Value> {
    let each = values.into_iter().flat_map(|value| match value {
        Value::Array(values) => values,
        value => vec![value],
    });
    each.collect()
}

/// Refuses a conversation without the field that holds its messages.
fn missing(index: usize, field: &str, accepted: &str) -> Refusal {
    Place::root("").index(index).field(field).refuse(format!("is missing; accepted: {accepted}"))
}

/// Refuses a file that holds nothing of what `program` writes.
fn foreign(program: &str) -> Refusal {
    let text = format!(
        "holds nothing that {program} writes: its format is unknown, or another one; name the format"
    );
    Refusal::invalid("content", text)
}

/// Refuses messages none of which has the field in which `program` names their authors.
fn authored<'v>(
    messages: impl Iterator<Item = &'v Value>,
    field: &str,
    program: &str,
) -> Result<(), Refusal> {
    let mut messages = messages.filter(|message| message.is_object()).peekable();
    match messages.peek().is_none() || messages.any(|message| message.get(field).is_some()) {
        true => Ok(()),
        false => Err(foreign(program)),
    }
}

/// Where the program is looked for: lines about the session can come before the first message.
const LOOKED_AT: usize = 100;

/// Detects the program that wrote `values`.
pub fn detect(values: &[Value]) -> Option<Format> {
    let all =
        values.iter().flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    let has = |value: &Value, names: &[&str]| names.iter().all(|name| value.get(name).is_some());
    // what has a role is a message of an API, not a program's line
    all.take(LOOKED_AT).filter(|value| value.get("role").is_none()).find_map(|value| {
        let kind = text(value, "type");
        if has(value, &["mapping"]) {
            Some(Format::ChatGpt)
        } else if has(value, &["chat_messages"]) {
            Some(Format::Claude)
        } else if has(value, &["parentUuid", "sessionId"])
            || (kind == Some("summary") && has(value, &["leafUuid"]))
        {
            Some(Format::ClaudeCode)
        } else if has(value, &["payload", "timestamp"]) && kind.is_some()
            || (has(value, &["id", "timestamp", "instructions"]) && kind.is_none())
        {
            Some(Format::Codex)
        } else if (kind == Some("session") && has(value, &["id", "timestamp", "cwd"]))
            || (kind == Some("message") && has(value, &["message", "timestamp"]))
        {
            Some(Format::Pi)
        } else {
            None
        }
    })
}
