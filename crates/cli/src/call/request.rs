//! `utterd call --list METHOD`: what a request of the method has.

use prost_reflect::{FieldDescriptor, Kind, MethodDescriptor};

use super::{
    comments::{first_sentence, of_field, of_method},
    examples,
};

/// What the method does, an example, and the messages in its request, each once.
pub fn described(method: &MethodDescriptor) -> String {
    let name = method.name();
    let example = examples::of(name);
    let example = match method.is_client_streaming() {
        true => format!("echo '{example}' | utterd call {name}"),
        false => format!("utterd call {name} '{example}'"),
    };
    let mut text = format!("{}\n\nExample:\n  {example}\n", of_method(method));
    let (mut messages, mut next) = (vec![method.input()], 0);
    while let Some(message) = messages.get(next).cloned() {
        next += 1;
        text += &format!("\n{}:\n", message.name());
        for field in message.fields() {
            text += &format!(
                "  {} ({}): {}\n",
                field.json_name(),
                kind(&field),
                first_sentence(&of_field(&field))
            );
            if let Kind::Message(inner) = value_kind(&field)
                && !inner.full_name().starts_with("google.protobuf.")
                && !messages.contains(&inner)
            {
                messages.push(inner);
            }
        }
    }
    text
}

/// The kind of a field, of the elements of a list, or of the values of a map.
fn value_kind(field: &FieldDescriptor) -> Kind {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    }
}

fn kind(field: &FieldDescriptor) -> String {
    let kind = match value_kind(field) {
        Kind::Message(message) => message.name().to_owned(),
        Kind::Enum(of) => {
            let values = of.values().filter(|value| value.number() != 0); // 0 is UNSPECIFIED
            values.map(|value| value.name().to_owned()).collect::<Vec<_>>().join(" or ")
        }
        Kind::Bool => "bool".to_owned(),
        Kind::String => "string".to_owned(),
        Kind::Bytes => "base64".to_owned(),
        _ => "number".to_owned(),
    };
    match (field.is_list(), field.is_map()) {
        (true, _) => format!("list of {kind}"),
        (_, true) => format!("object with values of {kind}"),
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::methods::named;

    #[test]
    fn a_request_is_told_with_its_fields_types_and_values() {
        let told = described(&named("UpdateUtterance").unwrap());
        for text in [
            "\nUpdateUtteranceRequest:\n",
            "\n  utteranceId (string): Required. The utterance.\n",
            "\n  metadata (object with values of string): ",
            "EDIT_MODE_IN_PLACE or EDIT_MODE_FORK",
            "\nExample:\n  utterd call UpdateUtterance '{",
        ] {
            assert!(told.contains(text), "{text} is not in\n{told}");
        }
    }

    #[test]
    fn what_a_request_contains_is_told_once() {
        let told = described(&named("MemorizeStream").unwrap());
        for heading in ["MemorizeStreamRequest:", "MemorizeRequest:", "NewUtterance:", "ToolCall:"] {
            assert_eq!(told.lines().filter(|line| *line == heading).count(), 1, "{told}");
        }
    }
}
