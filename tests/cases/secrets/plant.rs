//! A secret in each text of a request, one at a time.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use crate::secrets::{NAMED, PLANTED};

/// The messages of a request with a secret in one more text, or replacing one: for each possible text.
pub fn variants(input: &MessageDescriptor, messages: &[Value]) -> Vec<Vec<Value>> {
    let mut variants = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let object = message.as_object().cloned().unwrap_or_default();
        for variant in planted(input, &object) {
            let mut messages = messages.to_vec();
            messages[place] = Value::Object(variant);
            variants.push(messages);
        }
    }
    variants
}

fn planted(message: &MessageDescriptor, object: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let fields = message.fields().filter(|field| fits(field, object));
    let with = |field: &FieldDescriptor, value: Value| {
        let mut object = object.clone();
        object.insert(field.name().to_owned(), value);
        object
    };
    fields
        .flat_map(|field| {
            values(&field, object.get(field.name())).into_iter().map(move |it| (field.clone(), it))
        })
        .map(|(field, value)| with(&field, value))
        .collect()
}

/// Whether no other field of its `oneof` is set.
fn fits(field: &FieldDescriptor, object: &Map<String, Value>) -> bool {
    let others = field.containing_oneof().into_iter().flat_map(|oneof| oneof.fields().collect::<Vec<_>>());
    others.into_iter().all(|other| other == *field || !object.contains_key(other.name()))
}

/// The values of a field with a secret, one for each possible place.
fn values(field: &FieldDescriptor, present: Option<&Value>) -> Vec<Value> {
    let secret = secret(field.name());
    match field.kind() {
        _ if field.is_map() => vec![json!({(secret.as_str()): "x"}), json!({"x": secret})],
        Kind::String if field.is_list() => vec![json!([secret])],
        // with a line break, no id or name is accepted
        Kind::String => vec![json!(secret), json!(format!("{secret}\n"))],
        Kind::Bytes => {
            vec![json!(BASE64.encode(&secret)), json!(BASE64.encode(format!("{{\"{secret}\": 1}}")))]
        }
        Kind::Message(message) if message.full_name() == "google.protobuf.FieldMask" => vec![json!(secret)],
        Kind::Message(message) if message.package_name() == "utterd.v1" => {
            let present = if field.is_list() { present.and_then(|list| list.get(0)) } else { present };
            let object = present.and_then(Value::as_object).cloned().unwrap_or_default();
            let within = planted(&message, &object).into_iter().map(Value::Object);
            within.map(|value| if field.is_list() { json!([value]) } else { value }).collect()
        }
        _ => Vec::new(),
    }
}

fn secret(field: &str) -> String {
    let is_id = field.ends_with("_id") && field != "tool_call_id" || field == "utterance_ids";
    format!("{}{}", if is_id { NAMED } else { PLANTED }, field.replace('_', ""))
}
