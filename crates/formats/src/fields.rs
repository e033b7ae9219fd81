//! Reads the fields of a JSON message: takes each value, leaves a hole in its place, and names the place of
//! errors.

use std::borrow::Cow;

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::{extras::hole, place::Place, time};
use utterd_domain::{Result, Timestamp, limits::MAX_ID_BYTES, quoted};

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

/// The texts of a content array, joined by line ends.
pub struct Joined {
    content: String,
    any: bool,
    /// Whether there is only one text, which then is the whole content.
    sole: bool,
}

impl Joined {
    /// Takes the texts out of `parts` and leaves holes in their places.
    ///
    /// A text is a string, or the value under `text` (or `refusal`) of an object of such a type.
    pub fn of(parts: &mut [Value]) -> String {
        let count = parts.iter_mut().filter_map(|part| text_of(part).map(drop)).count();
        let mut joined = Self { content: String::new(), any: false, sole: count == 1 };
        for place in parts.iter_mut().filter_map(text_of) {
            joined.take(place);
        }
        joined.content
    }

    fn take(&mut self, place: &mut Value) {
        let Value::String(text) = place else { return };
        if self.any {
            self.content.push('\n');
        }
        let from = self.content.len();
        self.content.push_str(text);
        self.any = true;
        *place = match self.sole {
            true => hole("content"),
            false => hole(vec![from, self.content.len()]),
        };
    }
}

/// The same texts as [`Joined::of`], which stay where they are.
pub fn joined(parts: &[Value]) -> String {
    let text = |part| text_place(part).and_then(|place| part.pointer(place)?.as_str());
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// The text of a part, if it is a text part.
fn text_of(part: &mut Value) -> Option<&mut Value> {
    part.pointer_mut(text_place(part)?).filter(|text| text.is_string())
}

/// Where a text part has its text, as a JSON pointer.
fn text_place(part: &Value) -> Option<&'static str> {
    const TEXTS: [&str; 3] = ["text", "input_text", "output_text"];
    match part {
        Value::String(_) => Some(""),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("refusal") => Some("/refusal"),
            Some(kind) if TEXTS.contains(&kind) => Some("/text"),
            None if fields.contains_key("text") => Some("/text"),
            _ => None,
        },
        _ => None,
    }
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
    match fields.get_mut(name) {
        Some(Value::Array(parts)) => Ok(Joined::of(parts)),
        Some(other) if !other.is_string() && !other.is_null() => {
            Err(place.field(name).refuse_kind(other, "text, null or an array of parts"))
        }
        _ => Ok(take_text(fields, name, "content", place)?.unwrap_or_default()),
    }
}

/// Whether it is an object with no fields other than `known`.
pub fn has_only(value: &Value, known: &[&str]) -> bool {
    value.as_object().is_some_and(|fields| fields.keys().all(|name| known.contains(&name.as_str())))
}

/// Whether it is a non-empty text.
pub fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_parts_are_joined() {
        let mut parts = [
            json!({"type": "text", "text": "ab"}),
            json!({"type": "image_url", "image_url": {"url": "u"}}),
            json!({"type": "refusal", "refusal": "ü"}),
        ];
        assert_eq!(joined(&parts), "ab\nü");
        assert_eq!(Joined::of(&mut parts), "ab\nü");
        assert_eq!(parts[0]["text"], json!({"$": [0, 2]}));
        assert_eq!(parts[2]["refusal"], json!({"$": [3, 5]}));
        let mut one = [json!("ab")];
        assert_eq!((Joined::of(&mut one), &one[0]), ("ab".to_owned(), &json!({"$": "content"})));
    }

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
