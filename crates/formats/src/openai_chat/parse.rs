//! Reads messages into drafts.

use serde_json::{Map, Value};

use crate::{
    Format, Parsed, Sourced, extras,
    fields::{array, check_content, fit_id, object, take_arguments, take_content, take_fit},
    notes::Notes,
    openai_chat::{SAID, canonical},
    place::Place,
    repair, texts,
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
};

/// The format of this file.
const FORMAT: Format = Format::OpenAiChat;

/// Reads a conversation: an array of messages, or an object with `messages` (and an `id` and any other
/// fields, which are kept).
pub fn conversation(value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Parsed> {
    let (messages, document) = match value {
        Value::Object(mut fields) => (fields.shift_remove("messages").unwrap_or_default(), Some(fields)),
        messages => (messages, None),
    };
    let list = match document {
        Some(_) => place.field("messages"),
        None => *place,
    };
    let messages = array(messages, &list, "an array of messages")?;
    let mut said = Vec::with_capacity(messages.len());
    for (index, value) in messages.into_iter().enumerate() {
        said.push(Sourced { index, draft: read(value, &list.index(index), notes)? });
    }
    repair::mark(FORMAT, &mut said);
    let id = document.as_ref().and_then(|document| document.get("id").map(id_text));
    extras::keep_document(&mut said, FORMAT, document, notes, place);
    Ok(Parsed { id, list: list.to_string(), said, ..Parsed::default() })
}

fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// Reads a message.
///
/// - `content` is null, text, or an array of parts whose texts are joined by line ends.
/// - Roles have the names of [`Role::named`].
/// - A legacy `function_call` is a tool call whose id is the function's name, as `function` messages name no
///   call.
pub fn read(mut value: Value, place: &Place<'_>, notes: &mut Notes) -> Result<Draft> {
    if let Some(draft) = plain(&mut value) {
        return Ok(draft);
    }
    let source = value.clone();
    let mut fields = object(value, place, "a message: an object with a role")?;
    let role = notes.role(&fields, place)?;
    let content = said(&mut fields, place)?;
    let mut more = More {
        name: take_fit(&mut fields, "name", "name", MAX_NAME_BYTES, place)?.map(Into::into),
        ..More::default()
    };
    match role {
        Role::Assistant => more.tool_calls = calls(&mut fields, place)?,
        Role::Tool => {
            let id = take_fit(&mut fields, "tool_call_id", "tool_call_id", MAX_ID_BYTES, place)?;
            let is_function =
                || source["role"].as_str().is_some_and(|it| it.eq_ignore_ascii_case("function"));
            let by_name = || more.name.clone().filter(|_| is_function());
            more.tool_call_id = id.map(Into::into).or_else(by_name);
        }
        Role::System | Role::User => {}
    }
    let mut draft = Draft::of(role, content, more);
    extras::keep_difference(&mut draft, FORMAT, &source, &Value::Object(fields), canonical);
    Ok(draft)
}

/// Takes the content, and what an answer says beside it: a refusal, or the words of a recording.
fn said(fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<String> {
    check_content(fields, SAID[0], place)?;
    let says = |name: &&str| fields.get(*name).is_some_and(|value| !value.is_null() && value != "");
    let said: Vec<&str> = SAID.into_iter().filter(says).collect();
    if said.iter().all(|name| *name == SAID[0]) {
        return take_content(fields, SAID[0], place);
    }
    let mut taken: Value = said.iter().filter_map(|name| fields.get_mut(*name).map(Value::take)).collect();
    let content = texts::take(&mut taken);
    for (name, hollow) in said.into_iter().zip(array(taken, place, "an array")?) {
        fields.insert(name.to_owned(), hollow);
    }
    Ok(content)
}

/// Takes a message that consists of its role and text, as most do; the general way keeps nothing of it either.
fn plain(message: &mut Value) -> Option<Draft> {
    let fields = message.as_object_mut().filter(|fields| fields.len() == 2)?;
    let name = fields.get("role")?.as_str()?;
    let role = Role::named(name).filter(|role| *role != Role::Tool && role.as_str() == name)?;
    let Value::String(content) = fields.get_mut("content")? else { return None };
    Some(Draft::of(role, std::mem::take(content), More::default()))
}

fn calls(fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<Vec<ToolCall>> {
    let mut calls = match fields.get_mut("tool_calls") {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => tool_calls(value, &place.field("tool_calls"))?,
    };
    let legacy = calls.len();
    if let Some(Value::Object(call)) = fields.get_mut("function_call") {
        let at = place.field("function_call");
        calls.push(called(call, "arguments", legacy, None, &at)?);
    }
    Ok(calls)
}

/// Reads the `tool_calls` array of an assistant message, and leaves holes in it.
///
/// A call is `{"id", "type": "function", "function": {"name", "arguments"}}`, or has `custom` with `name` and
/// `input`. Arguments that are not text are written as JSON.
pub fn tool_calls(value: &mut Value, place: &Place<'_>) -> Result<Vec<ToolCall>> {
    let Value::Array(values) = value else {
        return Err(place.refuse_kind(value, "an array of tool calls"));
    };
    let mut calls = Vec::with_capacity(values.len());
    for (index, value) in values.iter_mut().enumerate() {
        calls.push(tool_call(value, index, &place.index(index))?);
    }
    Ok(calls)
}

fn tool_call(value: &mut Value, index: usize, place: &Place<'_>) -> Result<ToolCall> {
    let Value::Object(call) = value else {
        return Err(place.refuse_kind(value, "an object with an id and a function"));
    };
    let part = format!("calls/{index}/id");
    let id = take_fit(call, "id", &part, MAX_ID_BYTES, place)?;
    let (body, input) = match call.contains_key("custom") {
        true => ("custom", "input"),
        false => ("function", "arguments"),
    };
    let at = place.field(body);
    match call.get_mut(body) {
        Some(Value::Object(function)) => called(function, input, index, id, &at),
        Some(other) => Err(at.refuse_kind(other, "an object with a name and arguments")),
        None => Err(at.refuse("is missing; accepted: an object with a name and arguments")),
    }
}

fn called(
    function: &mut Map<String, Value>,
    input: &str,
    index: usize,
    id: Option<String>,
    place: &Place<'_>,
) -> Result<ToolCall> {
    let part = |part: &str| format!("calls/{index}/{part}");
    let Some(name) = take_fit(function, "name", &part("name"), MAX_NAME_BYTES, place)? else {
        return Err(place.field("name").refuse("is missing; accepted: the name of a function"));
    };
    let arguments_json = take_arguments(function, input, index);
    // a call without an id gets its function's name as the id
    let id = id.unwrap_or_else(|| fit_id(&name).into_owned());
    Ok(ToolCall { id: id.into(), name: name.into(), arguments_json: arguments_json.into() })
}
