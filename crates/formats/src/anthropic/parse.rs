//! Reads messages into drafts.

use serde_json::{Map, Value, json};

use crate::{
    Format, Parsed, Sourced,
    anthropic::{AT, FORM, MESSAGE, STARTS, SYSTEM, canonical, side},
    extras::{self, Parts, hole},
    fields::{answered, array, fit_id, object, take_content, take_fit},
    notes::Notes,
    place::Place,
    repair, texts,
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
};

const FORMAT: Format = Format::Anthropic;

/// Reads a conversation: an array of messages, or an object with `messages`, `system` and any other fields,
/// which are kept.
pub fn conversation(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let (messages, mut document) = match value {
        Value::Object(mut fields) => (fields.shift_remove("messages").unwrap_or_default(), Some(fields)),
        messages => (messages, None),
    };
    let list = match document {
        Some(_) => place.field("messages"),
        None => *place,
    };
    let mut reader = Reader { said: Vec::new(), notes };
    if let Some(value) = document.as_mut().and_then(|document| document.shift_remove("system")) {
        reader.system(value, &place.field("system"))?;
    }
    for (index, value) in array(messages, &list, "an array of messages")?.into_iter().enumerate() {
        reader.message(value, index, &list.index(index))?;
    }
    let Reader { mut said, .. } = reader;
    repair::mark(FORMAT, &mut said);
    let id = document.as_ref().and_then(|document| Some(document.get("id")?.as_str()?.to_owned()));
    extras::keep_document(&mut said, FORMAT, document, notes, place);
    Ok(Parsed { id, list: list.to_string(), said, ..Parsed::default() })
}

/// Reads a message: a draft for each result, and one for the rest.
pub fn read(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Vec<Draft>> {
    let mut reader = Reader { said: Vec::new(), notes };
    reader.message(value, 0, place)?;
    Ok(reader.said.into_iter().map(|sourced| sourced.draft).collect())
}

struct Reader<'n> {
    said: Vec<Sourced>,
    notes: &'n mut Notes,
}

impl Reader<'_> {
    /// The request's instructions: text or blocks of text.
    fn system(&mut self, value: Value, place: &Place<'_>) -> Result<()> {
        let (content, hollow, form) = match value.clone() {
            Value::Null => return Ok(()),
            Value::String(text) => (text, Value::Null, "text"),
            blocks => {
                let mut blocks = Value::Array(array(blocks, place, "text or an array of blocks")?);
                (texts::take(&mut blocks), blocks, "blocks")
            }
        };
        let mut draft = Draft::of(Role::System, content, More::default());
        if form == "blocks" {
            extras::keep_difference(&mut draft, FORMAT, &value, &hollow, canonical);
        }
        extras::keep(&mut draft, FORMAT, Map::from_iter([(SYSTEM.into(), form.into())]));
        self.said.push(Sourced { index: 0, draft });
        Ok(())
    }

    fn message(&mut self, value: Value, index: usize, place: &Place<'_>) -> Result<()> {
        let mut fields = object(value, place, "a message: an object with a role and content")?;
        let role = self.role(&mut fields, place)?;
        let content = fields.shift_remove("content").unwrap_or_default();
        let first = self.said.len();
        match content {
            Value::String(text) => {
                let mut draft = Draft::of(role, text, More::default());
                if matches!(role, Role::Assistant | Role::Tool) {
                    extras::keep(&mut draft, FORMAT, Map::from_iter([(FORM.into(), "text".into())]));
                }
                self.said.push(Sourced { index, draft });
            }
            Value::Array(blocks) => self.blocks(role, blocks, index, &place.field("content"))?,
            other => return Err(place.field("content").refuse_kind(&other, "text or an array of blocks")),
        }
        if role == Role::Tool {
            let more = self.said[first].draft.more.get_or_insert_default();
            more.tool_call_id = answered(&fields);
        }
        if !fields.is_empty() {
            let kept = Map::from_iter([(MESSAGE.into(), Value::Object(fields))]);
            extras::keep(&mut self.said[first].draft, FORMAT, kept);
        }
        let before = first.checked_sub(1).map(|before| &self.said[before].draft);
        let merges = before.is_some_and(|before| {
            side(before.role) == side(role)
                && Parts::from(before).kept(FORMAT).is_none_or(|kept| kept.get(SYSTEM).is_none())
        });
        if merges {
            extras::keep(&mut self.said[first].draft, FORMAT, Map::from_iter([(STARTS.into(), true.into())]));
        }
        Ok(())
    }

    /// Reads the role; a spelling that is not Anthropic's stays among the message's fields.
    fn role(&mut self, fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<Role> {
        let role = self.notes.role(fields, place)?;
        if fields["role"] == role.as_str() && matches!(role, Role::User | Role::Assistant) {
            fields.shift_remove("role");
        }
        Ok(role)
    }

    fn blocks(&mut self, role: Role, blocks: Vec<Value>, index: usize, place: &Place<'_>) -> Result<()> {
        let is_result = |block: &Value| block.get("type").is_some_and(|kind| kind == "tool_result");
        let mut rest = Vec::new();
        let mut results = Vec::new();
        for (at, block) in blocks.into_iter().enumerate() {
            match role == Role::User && is_result(&block) {
                true => results.push((at, block)),
                false => rest.push(block),
            }
        }
        let alone = results.is_empty();
        for (number, (at, block)) in results.into_iter().enumerate() {
            let mut draft = result(block, &place.index(at))?;
            if at != number {
                extras::keep(&mut draft, FORMAT, Map::from_iter([(AT.into(), at.into())]));
            }
            self.said.push(Sourced { index, draft });
        }
        if !rest.is_empty() || alone {
            let mut draft = said(role, rest, place)?;
            if alone && role != Role::Assistant {
                extras::keep(&mut draft, FORMAT, Map::from_iter([(FORM.into(), "blocks".into())]));
            }
            self.said.push(Sourced { index, draft });
        }
        Ok(())
    }
}

/// Reads the blocks of one message other than its results.
fn said(role: Role, blocks: Vec<Value>, place: &Place<'_>) -> Result<Draft> {
    let source = Value::Array(blocks.clone());
    let mut blocks = blocks;
    let mut calls = Vec::new();
    for (index, block) in blocks.iter_mut().enumerate().filter(|_| role == Role::Assistant) {
        if block.get("type").is_some_and(|kind| kind == "tool_use") {
            let call = call(block, calls.len(), &place.index(index))?;
            calls.push(call);
        }
    }
    let mut hollow = Value::Array(blocks);
    let content = texts::take(&mut hollow);
    let mut draft = Draft::of(role, content, More { tool_calls: calls, ..More::default() });
    extras::keep_difference(&mut draft, FORMAT, &source, &hollow, canonical);
    Ok(draft)
}

fn call(block: &mut Value, number: usize, place: &Place<'_>) -> Result<ToolCall> {
    let Value::Object(fields) = block else { return Err(place.refuse_kind(block, "a block: an object")) };
    let part = |part: &str| format!("calls/{number}/{part}");
    let id = take_fit(fields, "id", &part("id"), MAX_ID_BYTES, place)?;
    let Some(name) = take_fit(fields, "name", &part("name"), MAX_NAME_BYTES, place)? else {
        return Err(place.field("name").refuse("is missing; accepted: the name of a tool"));
    };
    let arguments_json = match fields.get_mut("input") {
        Some(input @ Value::Object(_)) => std::mem::replace(input, hole(part("input"))).to_string(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    let id = id.unwrap_or_else(|| fit_id(&name).into_owned());
    Ok(ToolCall { id: id.into(), name: name.into(), arguments_json: arguments_json.into() })
}

fn result(block: Value, place: &Place<'_>) -> Result<Draft> {
    let source = Value::Array(vec![block.clone()]);
    let mut fields = object(block, place, "a block: an object")?;
    let id = take_fit(&mut fields, "tool_use_id", "tool_call_id", MAX_ID_BYTES, place)?;
    let content = take_content(&mut fields, "content", place)?;
    let more = More { tool_call_id: id.map(Into::into), ..More::default() };
    let mut draft = Draft::of(Role::Tool, content, more);
    extras::keep_difference(&mut draft, FORMAT, &source, &json!([fields]), canonical);
    Ok(draft)
}
