//! OpenAI's chat completion messages.

use serde_json::{Map, Value, json};

use crate::{
    Format, Losses, Repairs, Sourced, Whole,
    extras::{Parts, hole},
    fields::{array, call, check_content, object, take_arguments, take_content, take_fit, take_tool},
    place::{Notes, Place},
    provider::{FRAMEWORKS, LeftOut, Provider, is_nothing, strip},
    texts,
};
use utterd_domain::{
    Draft, More, Result, Role, ToolCall, context,
    exchange::call_ids::Rule,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
};

/// How its messages are written.
pub const PROVIDER: Provider = Provider {
    format: Format::OpenAiChat,
    wording: context::Format::OpenAiChat,
    ids: Rule::OPENAI_CHAT,
    checks_names: true,
    canonical,
    sent,
    lists: &["messages"],
    read: read_all,
};

/// The fields in which a message says something.
const SAID: [&str; 3] = ["content", "refusal", "audio"];
/// The fields of a message that is no answer. Others are its maker's own, such as a time: the API refuses them.
const ASKED: &str = "content name role tool_call_id";

/// Whether the API refuses a field of an object of this type.
fn refuses(kind: &str, field: &str, _: &Value) -> bool {
    // what OpenAI's packages add to an answer that they parse
    matches!((kind, field), ("", "parsed") | ("function", "parsed_arguments"))
}

/// `parts` as a message of this format, with holes for the texts.
///
/// The content of an assistant that only calls tools is null.
fn canonical(parts: &Parts<'_>) -> Value {
    let silent = parts.role == Role::Assistant && parts.content.is_empty() && !parts.calls().is_empty();
    let content = (!silent).then(|| hole("content"));
    let mut message = json!({"role": parts.role.as_str(), "content": content});
    if parts.name().is_some() {
        message["name"] = hole("name");
    }
    if parts.tool_call_id().is_some() {
        message["tool_call_id"] = hole("tool_call_id");
    }
    if !parts.calls().is_empty() {
        let call = |index: usize| {
            let part = |part: &str| hole(format!("calls/{index}/{part}"));
            let function = json!({"name": part("name"), "arguments": part("arguments")});
            json!({"id": part("id"), "type": "function", "function": function})
        };
        message["tool_calls"] = (0..parts.calls().len()).map(call).collect();
    }
    message
}

/// Adds `parts` to `json` as a message, without what else is kept of them.
pub fn write(parts: &Parts<'_>, json: &mut String) {
    if !parts.calls().is_empty() {
        return json.push_str(&parts.fill(canonical(parts)).unwrap_or_default().to_string());
    }
    json.extend(["{\"role\":\"", parts.role.as_str(), "\",\"content\":"]);
    write_text(parts.content, json);
    for (field, said) in [("name", parts.name()), ("tool_call_id", parts.tool_call_id())] {
        if let Some(said) = said {
            json.extend([",\"", field, "\":"]);
            write_text(said, json);
        }
    }
    json.push('}');
}

/// Adds a text; most have nothing to escape, or most of their lines.
fn write_text(text: &str, json: &mut String) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    let are_plain = |text: &str| text.bytes().fold(true, |all, byte| all & is_plain(byte));
    if are_plain(text) {
        return json.extend(["\"", text, "\""]);
    }
    for (place, line) in text.split('\n').enumerate() {
        json.push_str(if place > 0 { "\\n" } else { "\"" });
        if are_plain(line) {
            json.push_str(line);
        } else {
            let escaped = Value::from(line).to_string();
            json.push_str(&escaped[1..escaped.len() - 1]);
        }
    }
    json.push('"');
}

/// Writes the conversation: an array of messages, or the object with `messages` that it came as.
pub fn export(whole: &Whole<'_>, repairs: Repairs, losses: &mut Losses) -> Value {
    let said = whole.parts();
    let lines = whole.written(&said, &PROVIDER, repairs, losses);
    PROVIDER.enclosed(lines.into_iter().flat_map(|line| line.values).collect(), &said)
}

fn sent(parts: &Parts<'_>, rendered: Vec<Value>, left_out: &mut LeftOut) -> Vec<Value> {
    rendered.into_iter().filter_map(|message| sent_message(parts, message, left_out)).collect()
}

/// The message of `parts` as it came, without what the API refuses. `None` if nothing is said or called.
fn sent_message(parts: &Parts<'_>, mut sent: Value, left_out: &mut LeftOut) -> Option<Value> {
    let Value::Object(mut plain) = PROVIDER.plain(parts).pop()? else { return None };
    strip(&mut sent, "", refuses, left_out);
    let fields = sent.as_object_mut()?;
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
    rename(fields, parts);
    let calls = fields.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
    if calls != parts.calls().len() || calls == 0 {
        // calls by their older name, or by none
        put(fields, &mut plain, "tool_calls");
    }
    if !parts.calls().is_empty() {
        fields.shift_remove("function_call");
    }
    let is_answer = parts.role == Role::Assistant;
    let beside =
        is_answer && SAID[1..].iter().any(|name| fields.get(*name).is_some_and(|it| !is_nothing(it)));
    match fields.get("content") {
        None | Some(Value::Null) if beside || (is_answer && !parts.calls().is_empty()) => {}
        Some(Value::String(_)) => {}
        Some(content) if !is_nothing(content) => {}
        _ => put(fields, &mut plain, "content"),
    }
    let says = parts.role == Role::Tool || !parts.content.is_empty() || !parts.calls().is_empty();
    let shows = texts::parts(&sent["content"]).iter().any(|part| !texts::is_text(texts::kind(part)));
    (says || beside || shows).then_some(sent)
}

/// Replaces a field with that of the canonical form, if it has one.
fn put(fields: &mut Map<String, Value>, plain: &mut Map<String, Value>, name: &str) {
    match plain.shift_remove(name) {
        Some(value) => drop(fields.insert(name.to_owned(), value)),
        None => drop(fields.shift_remove(name)),
    }
}

/// Puts the names, the ids and the arguments of `parts` into a message as it came.
pub fn rename(fields: &mut Map<String, Value>, parts: &Parts<'_>) {
    for (field, value) in [("name", parts.name()), ("tool_call_id", parts.tool_call_id())] {
        match value {
            Some(value) => drop(fields.insert(field.into(), value.into())),
            None => drop(fields.shift_remove(field)),
        }
    }
    let own = fields.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
    for (own, call) in own.filter_map(Value::as_object_mut).zip(parts.calls()) {
        own.insert("id".into(), (*call.id).into());
        if let Some(Value::Object(function)) = own.get_mut("function") {
            function.insert("name".into(), (*call.name).into());
            function.insert("arguments".into(), (*call.arguments_json).into());
        } else if let Some(Value::Object(custom)) = own.get_mut("custom") {
            custom.insert("name".into(), (*call.name).into());
        }
    }
}

/// The words that a message sends beside what it says: the model's thoughts, and fields that are not known.
pub fn words(message: &Value) -> String {
    const TOLD: &str = "role name content refusal audio tool_calls tool_call_id function_call";
    let fields = message.as_object().into_iter().flatten();
    let beside = fields.filter(|(name, _)| !texts::listed(TOLD, name) && !texts::listed(FRAMEWORKS, name));
    let thoughts = texts::thoughts(texts::parts(&message["content"]));
    let words = beside.map(|(_, value)| texts::words(value)).chain([thoughts]);
    words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
}

fn read_all(
    messages: Value,
    _: &mut Map<String, Value>,
    list: &Place<'_>,
    notes: &mut Notes,
) -> Result<Vec<Sourced>> {
    let messages = array(messages, list, "an array of messages")?.into_iter().enumerate();
    let read = |(index, value)| Ok(Sourced { index, draft: read(value, &list.index(index), notes)? });
    messages.map(read).collect()
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
            let is_function = source["role"].as_str().is_some_and(|it| it.eq_ignore_ascii_case("function"));
            let by_name = || more.name.clone().filter(|_| is_function);
            more.tool_call_id = id.map(Into::into).or_else(by_name);
        }
        Role::System | Role::User => {}
    }
    let mut draft = Draft::of(role, content, more);
    PROVIDER.keep_difference(&mut draft, &source, &Value::Object(fields));
    Ok(draft)
}

/// Takes the content, and what an answer says beside it: a refusal, or the words of a recording.
fn said(fields: &mut Map<String, Value>, place: &Place<'_>) -> Result<String> {
    check_content(fields, SAID[0], place)?;
    let says = |name: &&str| fields.get(*name).is_some_and(|value| !is_nothing(value));
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
    let values = values.iter_mut().enumerate();
    values.map(|(index, value)| tool_call(value, index, &place.index(index))).collect()
}

fn tool_call(value: &mut Value, index: usize, place: &Place<'_>) -> Result<ToolCall> {
    let Value::Object(call) = value else {
        return Err(place.refuse_kind(value, "an object with an id and a function"));
    };
    let id = take_fit(call, "id", &format!("calls/{index}/id"), MAX_ID_BYTES, place)?;
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
    let name = take_tool(function, index, place)?;
    Ok(call(id, name, take_arguments(function, input, index)))
}
