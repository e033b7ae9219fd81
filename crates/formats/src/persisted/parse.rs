//! Reads persisted conversations into drafts.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::{
    Format, Parsed, Sourced,
    extras::{self, Parts, hole},
    fields::{array, fit, fit_id, object, optional_text, read_time},
    notes::Notes,
    persisted::{LAST_MIGRATED, canonical, origin, state, summaries},
    place::Place,
    time,
};
use utterd_domain::{
    Draft, More, Result, Role, Timestamp,
    fork::origin::Provenance,
    limits::{MAX_NAME_BYTES, MAX_TITLE_BYTES},
};

/// The format of this file.
const FORMAT: Format = Format::Persisted;

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
    if let Some(migrated) = take_time(&mut fields, "lastMigrated", place)? {
        // applies to the whole file: the first conversation keeps it
        let text = time::write(migrated);
        read.first_mut().map(|first| first.labels.insert(LAST_MIGRATED.into(), text));
    }
    notes.not_kept(fields.keys(), place);
    Ok(read)
}

fn conversation(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let mut fields = object(value, place, "a conversation: an object with messages")?;
    let source = fields.clone();
    let list = place.field("messages");
    let messages = fields.shift_remove("messages").unwrap_or_default();
    let mut ids = HashSet::new();
    let (mut said, mut origins): (Vec<Sourced>, _) = (Vec::new(), Vec::new());
    for (index, value) in array(messages, &list, "an array of messages")?.into_iter().enumerate() {
        let (draft, from) = message(value, &mut ids, &list.index(index), notes)?;
        origins.push(from);
        said.push(Sourced { index, draft });
    }
    let parsed = Parsed {
        id: take_text(&mut fields, "id", place)?,
        title: take_text(&mut fields, "title", place)?.map(|title| fit(&title, MAX_TITLE_BYTES).into_owned()),
        summary: take_text(&mut fields, "summary", place)?,
        start: take_time(&mut fields, "startedAt", place)?,
        end: take_time(&mut fields, "endedAt", place)?,
        state: match fields.shift_remove(state::FIELD) {
            Some(values) => state::read(values, &place.field(state::FIELD))?,
            None => Vec::new(),
        },
        summaries: match fields.shift_remove(summaries::FIELD) {
            Some(values) => summaries::read(values, &place.field(summaries::FIELD))?,
            None => Vec::new(),
        },
        list: list.to_string(),
        origins,
        ..Parsed::default()
    };
    let mut kept = fields;
    kept.extend(spelled_otherwise(&parsed, source));
    let document = (!kept.is_empty()).then_some(kept);
    extras::keep_document(&mut said, FORMAT, document, notes, place);
    Ok(Parsed { said, ..parsed })
}

/// The fields of a conversation that would be written differently from how they came.
fn spelled_otherwise(parsed: &Parsed, source: Map<String, Value>) -> Map<String, Value> {
    let written = super::export::fields(
        parsed.id.as_deref().map(fit_id).as_deref(),
        parsed.title.as_deref(),
        parsed.summary.as_deref(),
        parsed.start,
        parsed.end,
    );
    let same = |name: &str, value: &Value| written.get(name) == Some(value);
    let named = |name: &str| ["id", "title", "summary", "startedAt", "endedAt"].contains(&name);
    source.into_iter().filter(|(name, value)| named(name) && !same(name, value)).collect()
}

fn take_text(fields: &mut Map<String, Value>, name: &str, place: &Place<'_>) -> Result<Option<String>> {
    match fields.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(place.field(name).refuse_kind(&other, "text or null")),
    }
}

fn take_time(fields: &mut Map<String, Value>, name: &str, place: &Place<'_>) -> Result<Option<Timestamp>> {
    let Some(text) = take_text(fields, name, place)? else { return Ok(None) };
    Ok(Some(read_time(&text, &place.field(name))?))
}

fn message(
    value: Value,
    ids: &mut HashSet<String>,
    place: &Place<'_>,
    notes: &mut Notes,
) -> Result<(Draft, Vec<Provenance>)> {
    let mut fields = object(value, place, "a message: an object with a role and content")?;
    let given = fields.get("id").and_then(Value::as_str).map(str::to_owned);
    let origins = origin::take(&mut fields, given.as_deref(), place)?;
    let source = Value::Object(fields.clone());
    let role = notes.role(&fields, place)?;
    if !matches!(role, Role::User | Role::Assistant) {
        let text = format!("is {}; accepted: user and assistant", fields["role"]);
        return Err(place.field("role").refuse(text));
    }
    let id = optional_text(&fields, "id", place)?.map(|id| free(&fit_id(id), ids));
    let time = optional_text(&fields, "timestamp", place)?;
    let create_time = time.map(|time| read_time(time, &place.field("timestamp"))).transpose()?;
    let content = optional_text(&fields, "content", place)?.unwrap_or_default().to_owned();
    let used = if role == Role::Assistant { tools(fields.get("toolsUsed"), place)? } else { Vec::new() };
    let more = (!used.is_empty()).then(|| Box::new(More { tools_used: used, ..More::default() }));
    let id = id.map(Into::into);
    let mut draft = Draft { id, role, content: content.into(), turn: None, create_time, pinned: false, more };
    punch(&mut fields, &Parts::from(&draft));
    extras::keep_difference(&mut draft, FORMAT, &source, &Value::Object(fields), canonical);
    Ok((draft, origins))
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

/// Makes an id that is unique in the conversation: ids derived from the time can recur.
fn free(id: &str, ids: &mut HashSet<String>) -> String {
    let short = fit(id, 112).into_owned();
    let numbered = (2..).map(|number: u64| format!("{short}~{number}"));
    let free = std::iter::once(id.to_owned()).chain(numbered).find(|id| !ids.contains(id));
    let id = free.unwrap_or(short);
    ids.insert(id.clone());
    id
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
