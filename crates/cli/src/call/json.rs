//! Reads messages from protobuf's JSON, with errors for a person who has written it.

use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Number, Value};
use serde_path_to_error::{Deserializer, Track};

/// The messages with a form of their own in JSON, such as a time.
const OWN_FORM: &str = "google.protobuf.";

/// Reads a message from its JSON. The error names the field that is wrong, and what is accepted.
pub fn read(message: MessageDescriptor, json: &[u8]) -> Result<DynamicMessage, String> {
    let mut value: Value = serde_json::from_slice(json).map_err(|error| format!("not JSON: {error}"))?;
    checked(&message, &mut value, "")?;
    let mut track = Track::new();
    let read = DynamicMessage::deserialize(message, Deserializer::new(value, &mut track));
    read.map_err(|error| match track.path().to_string().as_str() {
        "." => error.to_string(),
        place => format!("{place}: {error}"),
    })
}

/// Refuses unknown names of fields and of enums' values.
fn checked(message: &MessageDescriptor, value: &mut Value, place: &str) -> Result<(), String> {
    let Value::Object(object) = value else { return Ok(()) };
    if message.full_name().starts_with(OWN_FORM) {
        return Ok(());
    }
    for (name, value) in object {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let field = message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
        let field = field.ok_or_else(|| unknown(&place, message))?;
        checked_field(&field, value, &place)?;
    }
    Ok(())
}

fn checked_field(field: &FieldDescriptor, value: &mut Value, place: &str) -> Result<(), String> {
    match (field.kind(), value) {
        (Kind::Message(entry), Value::Object(entries)) if entry.is_map_entry() => {
            let kind = entry.map_entry_value_field().kind();
            let mut entries = entries.iter_mut();
            entries.try_for_each(|(key, value)| checked_value(&kind, value, &format!("{place}.{key}")))
        }
        (kind, Value::Array(elements)) if field.is_list() => {
            let mut elements = elements.iter_mut().enumerate();
            elements.try_for_each(|(at, value)| checked_value(&kind, value, &format!("{place}[{at}]")))
        }
        (kind, value) => checked_value(&kind, value, place),
    }
}

fn checked_value(kind: &Kind, value: &mut Value, place: &str) -> Result<(), String> {
    match (kind, value) {
        (Kind::Message(message), value) => checked(message, value, place),
        (Kind::Enum(of), Value::String(word)) if of.get_value_by_name(word).is_none() => {
            Err(unknown_value(place, word, of))
        }
        (_, Value::Number(number)) => {
            *number = usual(number);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A number with a fraction in its usual digits. Other digits are kept verbatim, and no message takes these.
fn usual(number: &Number) -> Number {
    let fraction = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64());
    fraction.and_then(Number::from_f64).unwrap_or_else(|| number.clone())
}

fn unknown(place: &str, message: &MessageDescriptor) -> String {
    let fields: Vec<_> = message.fields().map(|field| field.json_name().to_owned()).collect();
    if fields.is_empty() {
        return format!("{place}: is no field of {}, which has none", message.name());
    }
    format!("{place}: is no field of {}; accepted: {}", message.name(), fields.join(", "))
}

fn unknown_value(place: &str, word: &str, of: &EnumDescriptor) -> String {
    let named = of.values().filter(|value| value.number() != 0); // 0 is UNSPECIFIED
    let values: Vec<_> = named.map(|value| value.name().to_owned()).collect();
    format!("{place}: is {word:?}, which is no {}; accepted: {}", of.name(), values.join(", "))
}

#[cfg(test)]
mod tests {
    use utterd_rpc::proto::descriptors;

    fn read(message: &str, json: &str) -> Result<String, String> {
        let descriptor = descriptors().unwrap().get_message_by_name(&format!("utterd.v1.{message}")).unwrap();
        super::read(descriptor, json.as_bytes()).map(|message| serde_json::to_string(&message).unwrap())
    }

    #[test]
    fn numbers_names_and_times_are_read_in_every_form_of_protobufs_json() {
        for (message, given, expected) in [
            ("ForkConversationRequest", r#"{"at_sequence":7}"#, r#"{"atSequence":"7"}"#),
            ("ForkConversationRequest", r#"{"atSequence":"7"}"#, r#"{"atSequence":"7"}"#),
            ("RememberRequest", r#"{"minRelevance":0.50}"#, r#"{"minRelevance":0.5}"#),
            ("RememberRequest", r#"{"minRelevance":1}"#, r#"{"minRelevance":1.0}"#),
            ("NewUtterance", r#"{"role":"ROLE_USER"}"#, r#"{"role":"ROLE_USER"}"#),
            ("NewUtterance", r#"{"role":2}"#, r#"{"role":"ROLE_USER"}"#),
            ("NewUtterance", r#"{"metadata":{"role":"x"}}"#, r#"{"metadata":{"role":"x"}}"#),
            (
                "NewUtterance",
                r#"{"createTime":"2026-03-01T12:00:00+01:00"}"#,
                r#"{"createTime":"2026-03-01T11:00:00Z"}"#,
            ),
            ("ShareConversationRequest", r#"{"ttl":"90s"}"#, r#"{"ttl":"90s"}"#),
            (
                "UpdateUtteranceRequest",
                r#"{"updateMask":"pinned,content"}"#,
                r#"{"updateMask":"pinned,content"}"#,
            ),
            ("GetStatsRequest", r#"{"recipientId":null}"#, "{}"),
        ] {
            assert_eq!(read(message, given).as_deref(), Ok(expected), "{given}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_accepted() {
        for (message, given, expected) in [
            (
                "CountTokensRequest",
                r#"{"text":["a"]}"#,
                "text: is no field of CountTokensRequest; accepted: texts, utterances, model",
            ),
            (
                "MemorizeRequest",
                r#"{"utterances":[{},{"rol":"x"}]}"#,
                "utterances[1].rol: is no field of NewUtterance; accepted: utteranceId, role, ",
            ),
            (
                "MemorizeRequest",
                r#"{"utterances":[{"role":"user"}]}"#,
                "utterances[0].role: is \"user\", which is no Role; accepted: ROLE_SYSTEM, ",
            ),
            ("MemorizeRequest", r#"{"utterances":[{"pinned":1}]}"#, "utterances[0].pinned: invalid type"),
            ("MemorizeRequest", "{", "not JSON: "),
            ("MemorizeRequest", "{} {}", "not JSON: trailing"),
            ("MemorizeRequest", "3", "invalid type: number"),
        ] {
            let error = read(message, given).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
