//! Fits what a model wrote to a tool's schema: other names of an argument, numbers as strings, one thing in place of a
//! list.
//!
//! Only what has one obvious meaning is changed. An argument that the tool does not have is left out, and named, unless
//! leaving it out could do something else than the caller asked for.

use rmcp::model::JsonObject;
use serde_json::{Map, Number, Value, json};

/// Arguments, each with its other names.
pub type Aliases = &'static [(&'static str, &'static [&'static str])];

/// Names that many tools have, by their usual other names.
const USUAL: Aliases = &[("conversation_id", &["conversation"]), ("recipient_id", &["recipient", "user_id"])];

/// Words in the name of an argument that says whose memory, or which part of it, is meant.
const WHOSE: [&str; 8] =
    ["conversation", "recipient", "session", "thread", "chat", "user", "namespace", "tenant"];

/// Fits arguments to the schema of a tool, whose arguments are also called as `aliases` say. Returns the paths of those
/// that the tool does not have, and that are left out.
pub fn fit(given: &mut JsonObject, schema: &JsonObject, aliases: Aliases) -> Vec<String> {
    let mut fitting = Fitting { aliases, unknown: Vec::new() };
    fitting.object(given, schema, "");
    fitting.unknown
}

/// Whether leaving out the argument with this path could turn a call to another conversation than was meant.
pub fn is_address(path: &str) -> bool {
    let name = folded(path);
    !path.contains('.') && WHOSE.iter().any(|word| name.contains(word))
}

struct Fitting {
    aliases: Aliases,
    /// The paths of what no schema has.
    unknown: Vec<String>,
}

impl Fitting {
    fn value(&mut self, value: &mut Value, schema: &Value, path: &str) {
        match schema["type"].as_str().unwrap_or_default() {
            "object" => {
                parse(value, Value::is_object);
                if let (Value::Object(given), Value::Object(schema)) = (value, schema) {
                    self.object(given, schema, &format!("{path}."));
                }
            }
            "array" => self.array(value, schema, path),
            "integer" | "number" => number(value),
            "boolean" => boolean(value),
            "string" if schema["enum"].is_array() => choice(value),
            "string" => text(value),
            _ => {}
        }
    }

    /// One thing is read as a list of it.
    fn array(&mut self, value: &mut Value, schema: &Value, path: &str) {
        parse(value, Value::is_array);
        if !value.is_array() {
            *value = json!([value.take()]);
        }
        for (place, item) in value.as_array_mut().into_iter().flatten().enumerate() {
            self.value(item, &schema["items"], &format!("{path}[{place}]"));
        }
    }

    fn object(&mut self, given: &mut JsonObject, schema: &JsonObject, path: &str) {
        let Some(Value::Object(known)) = schema.get("properties") else { return };
        let taken = std::mem::take(given);
        let own: Vec<_> =
            known.keys().filter(|name| taken.get(*name).is_some_and(|it| !it.is_null())).collect();
        for (name, mut value) in taken {
            let free = |named: &str| !given.contains_key(named) && !own.iter().any(|own| *own == named);
            let named = self.named(&name, known).filter(|named| *named == name || free(named));
            let Some(named) = named else {
                self.unknown.push(format!("{path}{name}"));
                continue;
            };
            let schema = &known[named];
            if !is_nothing(&value, schema) {
                self.value(&mut value, schema, &format!("{path}{named}"));
                given.insert(named.to_owned(), value);
            }
        }
    }

    /// The argument that `name` means: its own name, however it is spelt, or another one.
    fn named<'k>(&self, name: &str, known: &'k Map<String, Value>) -> Option<&'k str> {
        let name = folded(name);
        let meant = |named: &str| known.keys().find(|key| folded(key) == folded(named)).map(String::as_str);
        let mut aliases = self.aliases.iter().chain(USUAL);
        let is_alias = |aliases: &[&str]| aliases.iter().any(|alias| folded(alias) == name);
        meant(&name)
            .or_else(|| aliases.find_map(|(named, aliases)| meant(named).filter(|_| is_alias(aliases))))
    }
}

/// A name without what spellings differ in: `conversationId` is `conversation_id`.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether an argument is as good as left out: null, or an empty text where another type is expected.
fn is_nothing(value: &Value, schema: &Value) -> bool {
    let is_empty = value.as_str().is_some_and(|text| text.trim().is_empty());
    value.is_null() || is_empty && (schema["type"] != "string" || schema["enum"].is_array())
}

/// Reads JSON in a text, if it is what is expected.
fn parse(value: &mut Value, is_expected: fn(&Value) -> bool) {
    let read = value.as_str().and_then(|text| serde_json::from_str(text).ok()).filter(is_expected);
    read.into_iter().for_each(|read| *value = read);
}

/// `"5"` and `5.0` are 5.
fn number(value: &mut Value) {
    let read = value.as_str().and_then(|text| text.trim().parse::<Number>().ok());
    read.into_iter().for_each(|read| *value = Value::Number(read));
    let whole = value.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    whole.into_iter().for_each(|whole| *value = Value::Number(Number::from(whole as i64)));
}

/// `"true"`, `"yes"` and 1 are true.
fn boolean(value: &mut Value) {
    let written = match value {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return,
    };
    match written.as_str() {
        "true" | "yes" | "1" => *value = Value::Bool(true),
        "false" | "no" | "0" => *value = Value::Bool(false),
        _ => {}
    }
}

/// `"User"` is `user`.
fn choice(value: &mut Value) {
    if let Value::String(text) = value {
        *text = text.trim().to_lowercase().replace([' ', '-'], "_");
    }
}

/// A number is its digits; a list of one text, and the parts of a message, are their text.
fn text(value: &mut Value) {
    let read = match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(parts) => match parts.as_slice() {
            [Value::String(only)] => Some(only.clone()),
            parts => parts
                .iter()
                .map(|part| part["text"].as_str())
                .collect::<Option<Vec<_>>>()
                .map(|it| it.join("\n")),
        },
        _ => None,
    };
    read.into_iter().for_each(|read| *value = Value::String(read));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(mut given: Value) -> (Value, Vec<String>) {
        let schema = json!({ "properties": {
            "prompt": { "type": "string" },
            "limit": { "type": "integer" },
            "conversation_id": { "type": "string" },
            "confirm": { "type": "boolean" },
            "role": { "type": "string", "enum": ["user", "tool_result"] },
            "words": { "type": "array", "items": { "type": "string" } },
            "messages": { "type": "array", "items": { "type": "object", "properties": {
                "content": { "type": "string" },
                "pinned": { "type": "boolean" },
            } } },
        } });
        let unknown = fit(
            given.as_object_mut().unwrap(),
            schema.as_object().unwrap(),
            &[("prompt", &["query"]), ("content", &["text"])],
        );
        (given, unknown)
    }

    #[test]
    fn what_has_one_obvious_meaning_is_read() {
        for (given, expected) in [
            (json!({ "limit": "5" }), json!({ "limit": 5 })),
            (json!({ "limit": " 5.0 " }), json!({ "limit": 5 })),
            (json!({ "limit": 5.0 }), json!({ "limit": 5 })),
            (json!({ "limit": "" }), json!({})),
            (json!({ "limit": null }), json!({})),
            (json!({ "confirm": "Yes" }), json!({ "confirm": true })),
            (json!({ "confirm": 0 }), json!({ "confirm": false })),
            (json!({ "prompt": 4711 }), json!({ "prompt": "4711" })),
            (json!({ "prompt": "" }), json!({ "prompt": "" })),
            (json!({ "query": "x" }), json!({ "prompt": "x" })),
            (json!({ "conversationId": "c" }), json!({ "conversation_id": "c" })),
            (json!({ "Conversation-ID": "c" }), json!({ "conversation_id": "c" })),
            (json!({ "conversation": "c" }), json!({ "conversation_id": "c" })),
            (json!({ "role": " Tool result " }), json!({ "role": "tool_result" })),
            (json!({ "words": "one" }), json!({ "words": ["one"] })),
            (json!({ "words": "[\"one\", 2]" }), json!({ "words": ["one", "2"] })),
            (json!({ "messages": { "text": "x" } }), json!({ "messages": [{ "content": "x" }] })),
            (json!({ "messages": "[{\"pinned\":\"no\"}]" }), json!({ "messages": [{ "pinned": false }] })),
            (
                json!({ "messages": [{ "content": [{ "type": "text", "text": "a" }, { "text": "b" }] }] }),
                json!({ "messages": [{ "content": "a\nb" }] }),
            ),
        ] {
            assert_eq!(fitted(given.clone()), (expected, Vec::new()), "{given}");
        }
    }

    #[test]
    fn what_has_none_is_left_as_it_is() {
        for given in [
            json!({ "limit": "ten" }),
            json!({ "limit": 1.5 }),
            json!({ "confirm": "perhaps" }),
            json!({ "confirm": 2 }),
            json!({ "prompt": { "a": 1 } }),
            json!({ "messages": ["x"] }),
        ] {
            assert_eq!(fitted(given.clone()), (given, Vec::new()));
        }
    }

    #[test]
    fn what_no_schema_has_is_named() {
        let (given, unknown) = fitted(json!({
            "query": "y", "prompt": "x", "Prompt": "z", "colour": 1, "messages": [{ "content": "x", "mood": "good" }],
        }));
        assert_eq!(given, json!({ "prompt": "x", "messages": [{ "content": "x" }] }));
        assert_eq!(unknown, ["query", "Prompt", "colour", "messages[0].mood"]);
        for (path, is) in
            [("session_id", true), ("userName", true), ("colour", false), ("messages[0].user", false)]
        {
            assert_eq!(is_address(path), is, "{path}");
        }
    }
}
