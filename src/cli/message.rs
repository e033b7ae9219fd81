//! A message in OpenAI's format, as an utterance. What has no field of its own is kept in
//! `extras_json`, so that nothing is lost.

use serde_json::{Map, Value, json};

use crate::{
    formats::kind,
    proto::{NewUtterance, Role, ToolCall},
};

/// A message of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What is memorized.
    pub utterance: NewUtterance,
    /// What had to be bent to memorize it, if anything.
    pub irregularity: Option<String>,
}

/// Reads a message; the error says what is wrong with it.
///
/// - `content` is null, text, or an array of parts: the texts of an array are joined by line
///   ends, and the array goes to the extras.
/// - `developer` is the role system, `function` is the role tool; a legacy `function_call` is a
///   tool call whose id is the function's name, as `function` messages name no call.
/// - Any other role is irregular, and becomes system: it starts no turn and answers no call.
pub fn read(message: Value) -> Result<Message, String> {
    let Value::Object(mut fields) = message else {
        return Err(format!("is {}; accepted is an object with a role", kind(&message)));
    };
    let mut extras = Map::new();
    let (role, irregularity) = role(&mut fields, &mut extras)?;
    let content = content(fields.remove("content"), &mut extras)?;
    let mut utterance = NewUtterance {
        role: role.into(),
        name: text(&mut fields, "name")?,
        content,
        tool_calls: calls(&mut fields, &mut extras)?,
        tool_call_id: text(&mut fields, "tool_call_id")?,
        ..Default::default()
    };
    if utterance.tool_call_id.is_empty() && extras.get("role").is_some_and(|role| role == "function") {
        utterance.tool_call_id.clone_from(&utterance.name);
    }
    extras.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
    if !extras.is_empty() {
        utterance.extras_json = Value::Object(extras).to_string();
    }
    Ok(Message { utterance, irregularity })
}

/// Reads OpenAI's array of tool calls: the calls, and for each what has no field of its own.
pub fn tool_calls(value: Value) -> Result<(Vec<ToolCall>, Vec<Value>), String> {
    let Value::Array(calls) = value else {
        return Err(format!("is {}; accepted is an array of tool calls", kind(&value)));
    };
    let calls: Result<Vec<_>, _> = calls.into_iter().map(tool_call).collect();
    Ok(calls?.into_iter().unzip())
}

type Fields = Map<String, Value>;

fn role(fields: &mut Fields, extras: &mut Fields) -> Result<(Role, Option<String>), String> {
    let given = match fields.remove("role") {
        Some(Value::String(role)) => role,
        Some(other) => return Err(format!("role is {}; accepted is text", kind(&other))),
        None => return Err("has no role".into()),
    };
    let (role, irregularity) = match given.as_str() {
        "system" => return Ok((Role::System, None)),
        "user" => return Ok((Role::User, None)),
        "assistant" => return Ok((Role::Assistant, None)),
        "tool" => return Ok((Role::Tool, None)),
        "developer" => (Role::System, None),
        "function" => (Role::Tool, None),
        _ => (Role::System, Some(format!("the role {given:?} is unknown, kept as system"))),
    };
    extras.insert("role".into(), given.into());
    Ok((role, irregularity))
}

fn content(value: Option<Value>, extras: &mut Fields) -> Result<String, String> {
    match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            let text = texts.collect::<Vec<_>>().join("\n");
            extras.insert("content".into(), Value::Array(parts));
            Ok(text)
        }
        Some(other) => {
            Err(format!("content is {}; accepted are null, text or an array of parts", kind(&other)))
        }
    }
}

/// A field of text, empty where it is absent or null.
fn text(fields: &mut Fields, name: &str) -> Result<String, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("{name} is {}; accepted is text", kind(&other))),
    }
}

fn calls(fields: &mut Fields, extras: &mut Fields) -> Result<Vec<ToolCall>, String> {
    let mut calls = Vec::new();
    if let Some(value) = fields.remove("tool_calls").filter(|value| !value.is_null()) {
        let (read, rest) = tool_calls(value).map_err(|reason| format!("tool_calls: {reason}"))?;
        calls = read;
        if rest.iter().any(|rest| *rest != json!({})) {
            extras.insert("tool_calls".into(), Value::Array(rest));
        }
    }
    if let Some(mut legacy) = fields.remove("function_call").filter(|value| !value.is_null()) {
        let name = called(&mut legacy, "name")?;
        let arguments_json = arguments(&mut legacy, "arguments");
        calls.push(ToolCall { id: name.clone(), name, arguments_json });
        extras.insert("function_call".into(), legacy);
    }
    Ok(calls)
}

/// One call, and what is left of it: everything but its id, its name, its arguments and the
/// usual type.
fn tool_call(mut call: Value) -> Result<(ToolCall, Value), String> {
    let id = called(&mut call, "id")?;
    let custom = call.get("custom").is_some();
    let (body, input) = if custom { ("custom", "input") } else { ("function", "arguments") };
    let Some(mut function) = call.as_object_mut().and_then(|call| call.remove(body)) else {
        return Err("a call has no function".into());
    };
    let name = called(&mut function, "name")?;
    let arguments_json = arguments(&mut function, input);
    if let Some(call) = call.as_object_mut() {
        if call.get("type").is_some_and(|kind| kind == "function") {
            call.remove("type");
        }
        if function != json!({}) {
            call.insert(body.into(), function);
        }
    }
    Ok((ToolCall { id, name, arguments_json }, call))
}

fn called(call: &mut Value, field: &str) -> Result<String, String> {
    let value = call.as_object_mut().and_then(|call| call.remove(field));
    match value {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("the {field} of a call is {}; accepted is text", kind(&other))),
        None => Err(format!("a call has no {field}")),
    }
}

/// The arguments as the model wrote them; some logs hold them parsed.
fn arguments(call: &mut Value, field: &str) -> String {
    match call.as_object_mut().and_then(|call| call.remove(field)) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(parsed) => parsed.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utterance(message: Value) -> NewUtterance {
        read(message).unwrap().utterance
    }

    fn extras(utterance: &NewUtterance) -> Value {
        serde_json::from_str(&utterance.extras_json).unwrap()
    }

    #[test]
    fn parts_are_joined_and_kept() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}},
            {"type": "text", "text": "b"}]);
        let read = utterance(json!({"role": "user", "content": parts}));
        assert_eq!(read.content, "a\nb");
        assert_eq!(extras(&read), json!({"content": parts}));
    }

    #[test]
    fn calls_keep_what_has_no_field() {
        let call = json!({"id": "c", "type": "function", "index": 0,
            "function": {"name": "f", "arguments": {"x": 1}}});
        let read =
            utterance(json!({"role": "assistant", "content": null, "tool_calls": [call], "stop": "x"}));
        assert_eq!(read.tool_calls[0].arguments_json, r#"{"x":1}"#);
        assert_eq!(extras(&read), json!({"tool_calls": [{"index": 0}], "stop": "x"}));
    }

    #[test]
    fn an_ordinary_message_has_no_extras() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let read = utterance(json!({"role": "assistant", "content": "hi", "tool_calls": [call]}));
        assert_eq!((read.extras_json.as_str(), read.content.as_str()), ("", "hi"));
    }

    #[test]
    fn legacy_functions_pair_by_name() {
        let call = utterance(
            json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}),
        );
        let result = utterance(json!({"role": "function", "name": "f", "content": "1"}));
        assert_eq!(result.role(), Role::Tool);
        assert_eq!(call.tool_calls[0].id, result.tool_call_id);
    }

    #[test]
    fn an_unknown_role_is_irregular() {
        let read = read(json!({"role": "bash", "content": null})).unwrap();
        assert_eq!(read.utterance.role(), Role::System);
        assert!(read.irregularity.unwrap().contains("\"bash\""));
        assert_eq!(utterance(json!({"role": "developer", "content": "x"})).role(), Role::System);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (message, reason) in [
            (json!("x"), "is text"),
            (json!({"content": "x"}), "has no role"),
            (json!({"role": "user", "content": 3}), "content is a number"),
            (json!({"role": "assistant", "tool_calls": [{"id": "c"}]}), "a call has no function"),
            (json!({"role": "assistant", "tool_calls": 1}), "tool_calls: is a number"),
        ] {
            let error = read(message).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
