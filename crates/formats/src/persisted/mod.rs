//! `PersistedConversations` of seed 000: conversations of user and assistant messages, with times, ids,
//! titles and summaries. Extra fields hold utterd's state values of a conversation, and the summaries of what was
//! said before it.

mod own;

pub use own::read_summaries;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use crate::{
    Format, Losses, Parsed, Sourced, Whole,
    extras::{self, Parts, hole},
    fields::{array, fit, fit_id, object, optional_text, optional_time},
    persisted::own::{STATE, SUMMARIES, read_state, write_state, write_summaries},
    place::{Notes, Place},
    time,
    whole::CHANGED,
};
use utterd_domain::{
    Draft, More, Result, Role, Timestamp,
    limits::{MAX_NAME_BYTES, MAX_TITLE_BYTES},
};

/// The format of this file.
const FORMAT: Format = Format::Persisted;
/// The label with the time of a conversation's migration (`lastMigrated`).
pub const LAST_MIGRATED: &str = "last_migrated";

/// `parts` as a message of this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    let role = if parts.role == Role::User { "user" } else { "assistant" };
    let mut message =
        json!({"id": hole("id"), "timestamp": hole("time"), "role": role, "content": hole("content")});
    if parts.more.is_some_and(|more| !more.tools_used.is_empty()) {
        message["toolsUsed"] = hole("tools_used");
    }
    message
}

/// Writes the conversation as an element of `conversations`.
///
/// Instructions and results are left out. The names of the tools that a turn calls are added to the
/// `toolsUsed` of the next message.
pub fn export(whole: &Whole<'_>, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let (mut messages, mut used) = (Vec::new(), BTreeSet::new());
    for (place, parts) in said.iter().enumerate() {
        let utterance = &whole.utterances[place];
        let mut lose = |field: &str, reason: &str| losses.add(field, reason, Some(utterance.sequence));
        match parts.role {
            Role::User => used.clear(),
            Role::Assistant if !parts.calls().is_empty() => {
                lose("tool_calls", "the format has only the names of tools");
                used.extend(parts.calls().iter().map(|call| call.name.clone()));
                if parts.content.is_empty() {
                    continue;
                }
            }
            Role::Assistant => {}
            Role::System | Role::Tool => {
                lose("content", "the format has only messages of user and assistant");
                continue;
            }
        }
        let id = utterance.id_text();
        let called =
            (parts.role == Role::Assistant && !used.is_empty()).then(|| with_tools(parts, &mut used));
        let parts = Parts { id: Some(&id), more: called.as_ref().or(parts.more), ..*parts };
        let kept = parts.kept(FORMAT);
        let (message, fits) = parts.render(kept.as_ref(), || canonical(&parts));
        if !fits {
            losses.add("extras_json", CHANGED, Some(utterance.sequence));
        }
        messages.push(message);
    }
    let mut conversation = fields(Some(whole.id), whole.title, whole.summary, Some(whole.start), whole.end);
    conversation.insert("messages".into(), Value::Array(messages));
    if !whole.state.is_empty() {
        conversation.insert(STATE.into(), write_state(whole.state));
    }
    if !whole.summaries.is_empty() {
        conversation.insert(SUMMARIES.into(), write_summaries(whole.summaries));
    }
    conversation.extend(extras::document(&said, FORMAT).unwrap_or_default());
    Value::Object(conversation)
}

/// The file with `conversations`; `migrated` is the time of their last migration.
pub fn document(conversations: Vec<Value>, migrated: Option<&str>) -> Value {
    let mut document = json!({ "conversations": conversations });
    if let Some(migrated) = migrated {
        document["lastMigrated"] = migrated.into();
    }
    document
}

/// The time of the last migration into these conversations, from their labels.
pub fn last_migrated<'l>(labels: impl Iterator<Item = &'l BTreeMap<String, String>>) -> Option<&'l str> {
    labels.filter_map(|labels| labels.get(LAST_MIGRATED)).map(String::as_str).max()
}

/// The fields of a conversation other than its messages.
fn fields(
    id: Option<&str>,
    title: Option<&str>,
    summary: Option<&str>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> Map<String, Value> {
    let time = |time: Option<Timestamp>| json!(time.map(time::write));
    let times = [("startedAt", time(start)), ("endedAt", time(end))];
    let texts = [("title", json!(title)), ("summary", json!(summary))];
    let fields = [("id", json!(id))].into_iter().chain(times).chain(texts);
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Adds the tools called before the utterance to its own.
fn with_tools(parts: &Parts<'_>, used: &mut BTreeSet<Box<str>>) -> More {
    let mut more = parts.more.cloned().unwrap_or_default();
    let known: BTreeSet<Box<str>> = more.tools_used.iter().cloned().collect();
    more.tools_used.extend(std::mem::take(used).into_iter().filter(|tool| !known.contains(tool)));
    more
}

/// Reads `{"conversations": […], "lastMigrated"}`, or one conversation.
pub fn conversations(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Vec<Parsed>> {
    let mut fields = object(value, place, "an object with conversations")?;
    let Some(list) = fields.shift_remove("conversations") else {
        return Ok(vec![conversation(Value::Object(fields), place, notes)?]);
    };
    let at = place.field("conversations");
    let mut read = Vec::new();
    for (index, value) in array(list, &at, "an array of conversations")?.into_iter().enumerate() {
        read.push(conversation(value, &at.index(index), notes)?);
    }
    if let Some(migrated) = optional_time(&fields, "lastMigrated", place)? {
        // applies to the whole file: the first conversation keeps it
        let text = time::write(migrated);
        read.first_mut().map(|first| first.labels.insert(LAST_MIGRATED.into(), text));
    }
    notes.not_kept(fields.keys().filter(|name| *name != "lastMigrated"), place);
    Ok(read)
}

fn conversation(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let mut fields = object(value, place, "a conversation: an object with messages")?;
    let list = place.field("messages");
    let messages = fields.shift_remove("messages").unwrap_or_default();
    let mut parsed = Parsed { list: list.to_string(), ..Parsed::default() };
    let mut ids = HashMap::new();
    for (index, value) in array(messages, &list, "an array of messages")?.into_iter().enumerate() {
        let draft = message(value, &mut ids, &list.index(index), notes)?;
        parsed.said.push(Sourced { index, draft });
    }
    if let Some(values) = fields.shift_remove(STATE) {
        parsed.state = read_state(values, &place.field(STATE))?;
    }
    if let Some(values) = fields.shift_remove(SUMMARIES) {
        parsed.summaries = read_summaries(values, &place.field(SUMMARIES))?;
    }
    let title = optional_text(&fields, "title", place)?;
    parsed.title = title.map(|title| fit(title, MAX_TITLE_BYTES).into_owned());
    parsed.id = optional_text(&fields, "id", place)?.map(str::to_owned);
    parsed.summary = optional_text(&fields, "summary", place)?.map(str::to_owned);
    parsed.start = optional_time(&fields, "startedAt", place)?;
    parsed.end = optional_time(&fields, "endedAt", place)?;
    let Parsed { title, summary, start, end, .. } = &parsed;
    let id = parsed.id.as_deref().map(fit_id);
    let written = self::fields(id.as_deref(), title.as_deref(), summary.as_deref(), *start, *end);
    // what would be written differently is kept as it came
    fields.retain(|name, value| written.get(name) != Some(value));
    let document = (!fields.is_empty()).then_some(fields);
    extras::keep_document(&mut parsed.said, FORMAT, document, notes, place);
    Ok(parsed)
}

fn message(
    value: Value,
    ids: &mut HashMap<String, u64>,
    place: &Place<'_>,
    notes: &mut Notes,
) -> Result<Draft> {
    let mut fields = object(value, place, "a message: an object with a role and content")?;
    let source = Value::Object(fields.clone());
    let role = notes.role(&fields, place)?;
    if !matches!(role, Role::User | Role::Assistant) {
        let text = format!("is {}; accepted: user and assistant", fields["role"]);
        return Err(place.field("role").refuse(text));
    }
    let id = optional_text(&fields, "id", place)?.map(|id| free(&fit_id(id), ids).into());
    let create_time = optional_time(&fields, "timestamp", place)?;
    let content = optional_text(&fields, "content", place)?.unwrap_or_default().into();
    let used = if role == Role::Assistant { tools(fields.get("toolsUsed"), place)? } else { Vec::new() };
    let more = (!used.is_empty()).then(|| Box::new(More { tools_used: used, ..More::default() }));
    let mut draft = Draft { id, role, content, turn: None, create_time, pinned: false, more };
    punch(&mut fields, &Parts::from(&draft));
    extras::keep_difference(&mut draft, FORMAT, &source, &Value::Object(fields), canonical);
    Ok(draft)
}

/// Punches holes for the fields that hold exactly what the model holds.
fn punch(fields: &mut Map<String, Value>, parts: &Parts<'_>) {
    let holes = [("id", "id"), ("timestamp", "time"), ("content", "content"), ("toolsUsed", "tools_used")];
    for (name, part) in holes {
        let held = parts.fill(hole(part));
        if let Some(value) = fields.get_mut(name).filter(|value| Some(&**value) == held.as_ref()) {
            *value = hole(part);
        }
    }
}

/// Makes an id that is unique in the conversation: ids derived from the time can recur. `ids` has the number that was
/// last added to each.
fn free(id: &str, ids: &mut HashMap<String, u64>) -> String {
    let (mut free, short) = (id.to_owned(), fit(id, 112).into_owned());
    while ids.contains_key(&free) {
        let last = ids.entry(short.clone()).or_insert(1);
        *last += 1;
        free = format!("{short}~{last}");
    }
    ids.insert(free.clone(), 1);
    free
}

/// Reads the names of tools; one that is not a valid name is made to fit.
pub fn tools(value: Option<&Value>, place: &Place<'_>) -> Result<Vec<Box<str>>> {
    let at = place.field("toolsUsed");
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let names = array(value.clone(), &at, "an array of names")?;
    let name = |(index, name): (usize, &Value)| match name {
        Value::String(name) => Ok(fit(name, MAX_NAME_BYTES).into()),
        other => Err(at.index(index).refuse_kind(other, "text")),
    };
    names.iter().enumerate().map(name).collect()
}
