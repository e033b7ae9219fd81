//! The texts of a message: what its content says, whatever the type of a part.
//!
//! A text part is its text. Any other part is read as well: its words, after its type in brackets, such as
//! `[web_search_call] weather in Oslo`. So a search or another provider's model knows what was found or run.
//! Thoughts, pictures and sounds have no words of this kind, nor have calls, which are read on their own.

use serde_json::{Map, Value};

use crate::extras::{HOLE, hole};

/// Types of a part that is its text, apart from refusals.
const TEXTS: [&str; 4] = ["text", "input_text", "output_text", "summary_text"];
/// Fields that hold no words, wherever they are.
const SILENT: &str = "type id role status data detail format language signature media_type mime_type cache_control \
    caller citations annotations logprobs tools input_schema";
/// How the types of the results of calls end.
pub const OUTPUT: &str = "_output";
/// Longer texts without white space are not words, but data: base64, for example.
const LONGEST_WORD: usize = 256;

/// A text within a message, as a JSON pointer.
struct Place {
    pointer: String,
    /// The type of its part in brackets, if it is the first of such a part.
    mark: String,
}

/// Takes the texts out of `content` (a text, a part or a list of these), leaves holes in their places, and
/// returns them, joined by line ends.
pub fn take(content: &mut Value) -> String {
    let places = places(content);
    let sole = places.len() == 1 && places[0].mark.is_empty();
    let mut joined = String::new();
    for (number, Place { pointer, mark }) in places.into_iter().enumerate() {
        let Some(place) = content.pointer_mut(&pointer) else { continue };
        let Value::String(text) = place else { continue };
        if number > 0 {
            joined.push('\n');
        }
        joined.push_str(&mark);
        let from = joined.len();
        joined.push_str(text);
        *place = if sole { hole("content") } else { hole(vec![from, joined.len()]) };
    }
    joined
}

/// Whether a part, or anything within it, is text or has words.
pub fn has_words(part: &Value) -> bool {
    places(part).iter().any(|place| text_at(part, place).is_some_and(|text| !text.is_empty()))
}

/// The text of a part; empty if it has none.
pub fn of(part: &Value) -> String {
    let text = |place: &Place| text_at(part, place).map(|text| place.mark.clone() + text);
    places(part).iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// The words of a thought, or of any other value that is no part of the text.
pub fn words(value: &Value) -> String {
    let mut found = Vec::new();
    leaves(value, String::new(), &mut String::new(), &mut found, false);
    let texts = found.iter().filter_map(|place| text_at(value, place));
    texts.collect::<Vec<_>>().join("\n")
}

/// The words of the thoughts among some parts.
pub fn thoughts(parts: &[Value]) -> String {
    let thoughts = parts.iter().filter(|part| is_thought(kind(part)));
    thoughts.map(words).collect::<Vec<_>>().join("\n")
}

/// The parts of a content; none if it is a text.
pub fn parts(content: &Value) -> &[Value] {
    content.as_array().map_or(&[], Vec::as_slice)
}

/// Whether a name is among those of a list, which a blank separates.
pub fn listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|its| its == name)
}

/// The type of a part; empty without one.
pub fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a part of this type is its text.
pub fn is_text(kind: &str) -> bool {
    kind == "refusal" || TEXTS.contains(&kind)
}

/// Whether a part of this type is a model's thought.
pub fn is_thought(kind: &str) -> bool {
    kind.contains("thinking") || kind.contains("reasoning")
}

/// Whether a part of this type is a picture or a sound.
pub fn is_media(kind: &str) -> bool {
    ["image", "screenshot", "audio"].iter().any(|media| kind.contains(media))
}

fn text_at<'v>(content: &'v Value, place: &Place) -> Option<&'v str> {
    content.pointer(&place.pointer)?.as_str()
}

/// The places of the texts in `content`.
fn places(content: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    part(content, String::new(), &mut found);
    found
}

fn part(value: &Value, at: String, found: &mut Vec<Place>) {
    match value {
        Value::String(_) => found.push(Place { pointer: at, mark: String::new() }),
        Value::Array(parts) => {
            parts.iter().enumerate().for_each(|(index, value)| part(value, format!("{at}/{index}"), found));
        }
        Value::Object(fields) => object(value, fields, at, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn object(value: &Value, fields: &Map<String, Value>, at: String, found: &mut Vec<Place>) {
    let within = |name: &str| format!("{at}/{name}");
    let text = |name: &str| fields.get(name).is_some_and(Value::is_string);
    match fields.get("type").and_then(Value::as_str) {
        Some("refusal") if text("refusal") => part(&fields["refusal"], within("refusal"), found),
        Some(kind) if TEXTS.contains(&kind) && !text("text") => {}
        kind if kind.is_none_or(|kind| TEXTS.contains(&kind)) && text("text") => {
            part(&fields["text"], within("text"), found);
        }
        kind if kind == Some("message") || (kind.is_none() && fields.contains_key("role")) => {
            if let Some(content) = fields.get("content") {
                part(content, within("content"), found);
            }
        }
        Some(kind) if is_call(kind, fields) => {}
        Some(kind) => leaves(value, at, &mut format!("[{kind}] "), found, true),
        None => leaves(value, at, &mut String::new(), found, true),
    }
}

/// Whether it is a call that the caller's program answers.
pub fn is_call(kind: &str, fields: &Map<String, Value>) -> bool {
    let has_id = fields.get("call_id").is_some_and(|id| !id.is_null());
    kind == "tool_use" || (has_id && !kind.ends_with(OUTPUT))
}

/// The words within a value, without thoughts and media if they are not wanted there. The first one takes the `mark`.
fn leaves(value: &Value, at: String, mark: &mut String, found: &mut Vec<Place>, shown: bool) {
    match value {
        Value::String(text) if is_words(text) => {
            found.push(Place { pointer: at, mark: std::mem::take(mark) })
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                leaves(value, format!("{at}/{index}"), mark, found, shown);
            }
        }
        Value::Object(fields) if !fields.contains_key(HOLE) => {
            let kind = kind(value);
            if is_media(kind) || (shown && is_thought(kind)) {
                return;
            }
            for (name, value) in fields.iter().filter(|(name, _)| !is_silent(name, kind)) {
                let name = name.replace('~', "~0").replace('/', "~1");
                leaves(value, format!("{at}/{name}"), mark, found, shown);
            }
        }
        _ => {}
    }
}

/// Whether the field of a part of type `kind` holds no words.
fn is_silent(name: &str, kind: &str) -> bool {
    let is_source_text = name == "data" && kind == "text";
    let is_data = ["_id", "_data"].iter().any(|end| name.ends_with(end)) || name.starts_with("encrypted");
    !is_source_text && (is_data || listed(SILENT, name))
}

fn is_words(text: &str) -> bool {
    let is_data = text.len() > LONGEST_WORD && text.is_ascii() && !text.contains(char::is_whitespace);
    !text.trim().is_empty() && !is_data && !text.starts_with("data:")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_parts_are_joined() {
        let mut parts = json!([
            {"type": "text", "text": "ab"},
            {"type": "image_url", "image_url": {"url": "u"}},
            {"type": "refusal", "refusal": "ü"},
        ]);
        assert_eq!(of(&parts), "ab\nü");
        assert_eq!(take(&mut parts), "ab\nü");
        assert_eq!(parts[0]["text"], json!({"$": [0, 2]}));
        assert_eq!(parts[2]["refusal"], json!({"$": [3, 5]}));
        let mut one = json!(["ab"]);
        assert_eq!((take(&mut one), &one[0]), ("ab".to_owned(), &json!({"$": "content"})));
    }

    #[test]
    fn parts_that_are_no_text_are_read_by_their_words() {
        let data = "Eo".repeat(600);
        let mut parts = json!([
            {"type": "text", "text": "I search."},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "plums"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
                {"type": "web_search_result", "title": "Plums", "url": "https://plums", "encrypted_content": data}]},
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "new_thing", "x/y": [1, {"stdout": "a", "image": {"type": "image", "url": "u"}}]},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "its text"}},
        ]);
        let said = "I search.\n[server_tool_use] web_search\nplums\n[web_search_tool_result] Plums\nhttps://plums\n\
            [new_thing] a\n[document] its text";
        assert_eq!(of(&parts), said);
        assert_eq!(take(&mut parts), said);
        assert_eq!(parts[4]["x/y"][1]["stdout"]["$"][1], said.find("\n[document]").unwrap());
        assert_eq!(words(&parts[3]), "hm");
        assert!(!has_words(&parts[3]));
    }
}
