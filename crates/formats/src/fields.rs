//! Reads the fields of a JSON message: takes each value, leaves a hole in its place, and names the place of
//! errors.

use std::borrow::Cow;

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::{extras::hole, place::Place, texts, time};
use utterd_domain::{
    Result, Timestamp, ToolCall,
    limits::{MAX_ID_BYTES, MAX_NAME_BYTES},
    quoted,
};

/// The text of a field, if it is present and not null.
pub fn optional_text<'v>(
    fields: &'v Map<String, Value>,
    name: &str,
    place: &Place<'_>,
) -> Result<Option<&'v str>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(place.field(name).refuse_kind(other, "text")),
    }
}

/// Reads a time from a file.
pub fn read_time(text: &str, place: &Place<'_>) -> Result<Timestamp> {
    let refuse =
        || place.refuse(format!("is {}; accepted: a time such as 2025-01-15T10:00:00Z", quoted(text)));
    time::read(text).ok_or_else(refuse)
}

/// The time of a field, if it is present and not null.
pub fn optional_time(
    fields: &Map<String, Value>,
    name: &str,
    place: &Place<'_>,
) -> Result<Option<Timestamp>> {
    let text = optional_text(fields, name, place)?;
    text.map(|text| read_time(text, &place.field(name))).transpose()
}

/// The fields of an object.
pub fn object(value: Value, place: &Place<'_>, accepted: &str) -> Result<Map<String, Value>> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(place.refuse_kind(&other, accepted)),
    }
}

/// The values of an array.
pub fn array(value: Value, place: &Place<'_>, accepted: &str) -> Result<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(place.refuse_kind(&other, accepted)),
    }
}

/// Takes the text of a field and leaves a hole for `part` in its place. Returns `None` and changes nothing if
/// the field is absent or null.
pub fn take_text(
    fields: &mut Map<String, Value>,
    name: &str,
    part: &str,
    place: &Place<'_>,
) -> Result<Option<String>> {
    match fields.get_mut(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value @ Value::String(_)) => match std::mem::replace(value, hole(part)) {
            Value::String(text) => Ok(Some(text)),
            _ => Ok(None),
        },
        Some(other) => Err(place.field(name).refuse_kind(other, "text")),
    }
}

/// The same for an id or a name. An unacceptable one stays in its field, and what [`fit`] makes of it is
/// taken.
pub fn take_fit(
    fields: &mut Map<String, Value>,
    name: &str,
    part: &str,
    most: usize,
    place: &Place<'_>,
) -> Result<Option<String>> {
    match fields.get(name) {
        Some(Value::String(text)) if fit(text, most) != *text => Ok(Some(fit(text, most).into_owned())),
        _ => take_text(fields, name, part, place),
    }
}

/// Makes an acceptable id or name of `text`: replaces control characters, turns an empty text into `-`, and
/// ends a text longer than `most` bytes with a hash of the whole.
pub fn fit(text: &str, most: usize) -> Cow<'_, str> {
    /// `~` and 16 hexadecimal digits.
    const HASH_BYTES: usize = 17;
    if text.is_empty() {
        return "-".into();
    }
    let clean: Cow<'_, str> = match text.contains(char::is_control) {
        true => text.replace(char::is_control, "-").into(),
        false => text.into(),
    };
    if clean.len() <= most {
        return clean;
    }
    let end = clean.floor_char_boundary(most - HASH_BYTES);
    format!("{}~{:016x}", &clean[..end], xxh3_64(text.as_bytes())).into()
}

/// Makes an acceptable id of `text`.
pub fn fit_id(text: &str) -> Cow<'_, str> {
    fit(text, MAX_ID_BYTES)
}

/// The id of the call that a tool message answers, under any format's name for it.
pub fn answered(message: &Map<String, Value>) -> Option<Box<str>> {
    let mut names = ["tool_call_id", "tool_use_id", "call_id"].into_iter();
    let id = names.find_map(|name| message.get(name)?.as_str())?;
    Some(fit_id(id).into())
}

/// Takes the name of the tool of the call with this number, and leaves a hole in its place.
pub fn take_tool(fields: &mut Map<String, Value>, call: usize, place: &Place<'_>) -> Result<String> {
    let missing = || place.field("name").refuse("is missing; accepted: the name of a tool");
    take_fit(fields, "name", &format!("calls/{call}/name"), MAX_NAME_BYTES, place)?.ok_or_else(missing)
}

/// A call. One without an id has the name of its tool as the id.
pub fn call(id: Option<String>, name: String, arguments: String) -> ToolCall {
    let id = id.unwrap_or_else(|| fit_id(&name).into_owned());
    ToolCall { id: id.into(), name: name.into(), arguments_json: arguments.into() }
}

/// Takes the arguments of the call with this number from a field, as JSON text, and leaves a hole in their place.
pub fn take_arguments(fields: &mut Map<String, Value>, name: &str, call: usize) -> String {
    let Some(arguments) = fields.get_mut(name).filter(|arguments| !arguments.is_null()) else {
        return String::new();
    };
    let part = if arguments.is_string() { "arguments" } else { "input" };
    match std::mem::replace(arguments, hole(format!("calls/{call}/{part}"))) {
        Value::String(text) => text,
        parsed => parsed.to_string(),
    }
}

/// Takes the content of a field (text, an array of parts, or nothing) and leaves holes in its place.
pub fn take_content(fields: &mut Map<String, Value>, name: &str, place: &Place<'_>) -> Result<String> {
    check_content(fields, name, place)?;
    Ok(fields.get_mut(name).map(texts::take).unwrap_or_default())
}

/// Refuses content that is neither text nor an array of parts, nor nothing.
pub fn check_content(fields: &Map<String, Value>, name: &str, place: &Place<'_>) -> Result<()> {
    match fields.get(name) {
        None | Some(Value::Array(_) | Value::String(_) | Value::Null) => Ok(()),
        Some(other) => Err(place.field(name).refuse_kind(other, "text, null or an array of parts")),
    }
}

/// Whether it is a non-empty text.
pub fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_to_fit() {
        assert_eq!(fit_id("call_1"), "call_1");
        assert_eq!(fit_id(""), "-");
        assert_eq!(fit_id("a\nb"), "a-b");
        let long = fit_id(&"é".repeat(200)).into_owned();
        assert!(long.len() <= MAX_ID_BYTES && long.contains('~'), "{long}");
        assert_ne!(long, fit_id(&"é".repeat(201)));
    }
}
