//! `utterd call METHOD --help`: what a request of the method has.

use std::{collections::HashSet, ffi::OsString};

use clap::Command;
use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};

use super::{
    comments::{first_sentence, of_field, of_method, of_value},
    examples,
    methods::named,
};
use crate::terminal::{Output, hanging, wrap};

/// The command.
const CALL: &str = "call";
/// The columns where there is no terminal.
const COLUMNS: usize = 100;
/// The most columns of the names in a column; a longer one shifts its explanation.
const NAME: usize = 36;

/// `program`, with the method that `arguments` name in the help of `call`.
pub fn of_method_named(program: Command, arguments: &[OsString]) -> Command {
    let words: Vec<_> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    let asks = words.iter().any(|word| ["--help", "-h"].contains(word));
    let method = match words.split_first() {
        Some((&CALL, words)) if asks => words.iter().find_map(|word| named(word)),
        _ => None,
    };
    let Some(method) = method else { return program };
    let columns = Output::new().width().unwrap_or(COLUMNS);
    program.mut_subcommand(CALL, |command| command.override_help(told(&method, columns)))
}

/// What the method does, its request, and an example.
fn told(method: &MethodDescriptor, columns: usize) -> String {
    let name = method.name();
    let mut lines: Vec<_> = of_method(method).lines().flat_map(|line| wrap(line, columns)).collect();
    lines.push(String::new());
    lines.extend(streams(method).iter().flat_map(|line| wrap(line, columns)));
    for part in parts(method.input()) {
        lines.push(String::new());
        lines.extend(section(&part, columns));
    }
    lines.extend([String::new(), "Example:".to_owned()]);
    lines.push(format!("  {}", example(method)));
    lines.extend([
        String::new(),
        format!("Usage: utterd call {name} [JSON]. Options: utterd call --help"),
        String::new(),
    ]);
    lines.join("\n")
}

/// How requests are read and responses printed.
fn streams(method: &MethodDescriptor) -> Vec<String> {
    let response = method.output().name().to_owned();
    let reads = method.is_client_streaming().then(|| "Reads requests from stdin, one a line.".to_owned());
    let prints = match method.is_server_streaming() {
        true => format!("Prints each {response} on a line."),
        false => format!("Prints one {response}."),
    };
    reads.into_iter().chain([prints]).collect()
}

fn example(method: &MethodDescriptor) -> String {
    let (name, request) = (method.name(), examples::of(method.name()));
    match method.is_client_streaming() {
        true => format!("echo '{request}' | utterd call {name}"),
        false => format!("utterd call {name} '{request}'"),
    }
}

/// A part of a request.
enum Part {
    Message(MessageDescriptor),
    Enum(EnumDescriptor),
}

/// The messages and enums in a request, each once, in the order of the fields.
fn parts(request: MessageDescriptor) -> Vec<Part> {
    let (mut parts, mut seen, mut next) = (Vec::new(), HashSet::new(), 0);
    seen.insert(request.full_name().to_owned());
    parts.push(Part::Message(request));
    while let Some(part) = parts.get(next) {
        next += 1;
        let Part::Message(message) = part else { continue };
        let inner: Vec<_> = message.fields().filter_map(|field| inner(&field)).collect();
        parts.extend(inner.into_iter().filter(|(name, _)| seen.insert(name.clone())).map(|(_, part)| part));
    }
    parts
}

/// The message or enum in a field, with its name.
fn inner(field: &FieldDescriptor) -> Option<(String, Part)> {
    match value_kind(field) {
        Kind::Message(message) if form(&message).is_none() => {
            Some((message.full_name().to_owned(), Part::Message(message)))
        }
        Kind::Enum(of) => Some((of.full_name().to_owned(), Part::Enum(of))),
        _ => None,
    }
}

/// The kind of a field, of the elements of a list, or of the values of a map.
fn value_kind(field: &FieldDescriptor) -> Kind {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    }
}

fn section(part: &Part, columns: usize) -> Vec<String> {
    let (name, rows): (_, Vec<_>) = match part {
        Part::Message(message) => {
            (message.name(), message.fields().map(|field| of_a_field(&field)).collect())
        }
        Part::Enum(of) => {
            let values = of.values().filter(|value| value.number() != 0); // 0 is UNSPECIFIED
            (
                of.name(),
                values.map(|value| (value.name().to_owned(), first_sentence(&of_value(&value)))).collect(),
            )
        }
    };
    let width = rows.iter().map(|(name, _)| name.len()).filter(|width| *width <= NAME).max().unwrap_or(0);
    let mut lines = vec![format!("{name}:")];
    lines.extend(rows.iter().flat_map(|(name, text)| hanging(&format!("  {name:width$}  "), text, columns)));
    if rows.is_empty() {
        lines.push("  no fields".to_owned());
    }
    lines
}

/// The JSON name of a field, and what it takes.
fn of_a_field(field: &FieldDescriptor) -> (String, String) {
    let kind = kind(&value_kind(field));
    let kind = match (field.is_list(), field.is_map()) {
        (true, _) => format!("list of {kind}"),
        (_, true) => format!("object with values of {kind}"),
        _ => kind,
    };
    let others = field.containing_oneof().filter(|of| !of.is_synthetic()).map(|of| {
        let names: Vec<_> = of.fields().map(|field| field.json_name().to_owned()).collect();
        format!("; one of {}", names.join(", "))
    });
    let text = first_sentence(&of_field(field));
    (field.json_name().to_owned(), format!("({kind}{}) {text}", others.unwrap_or_default()))
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => form(message).unwrap_or(message.name()).to_owned(),
        Kind::Enum(of) => of.name().to_owned(),
        Kind::Bool => "bool".to_owned(),
        Kind::String => "string".to_owned(),
        Kind::Bytes => "base64".to_owned(),
        _ => "number".to_owned(),
    }
}

/// The form of messages that are no objects in JSON.
fn form(message: &MessageDescriptor) -> Option<&'static str> {
    match message.full_name() {
        "google.protobuf.Timestamp" => Some("time such as \"2026-03-01T12:00:00Z\""),
        "google.protobuf.Duration" => Some("duration such as \"90s\""),
        "google.protobuf.FieldMask" => Some("paths such as \"title,policy\""),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_with_its_fields_types_and_values() {
        let told = told(&named("UpdateUtterance").unwrap(), 90);
        for line in [
            "UpdateUtteranceRequest:",
            "  utteranceId       (string) Required. The utterance.",
            "  metadata          (object with values of string) With `metadata` in the mask: all",
            "                    entries, which replace the old ones.",
            "EditMode:",
            "Example:",
        ] {
            assert!(told.lines().any(|it| it == line), "{line} is not in\n{told}");
        }
        assert!(told.contains("  EDIT_MODE_FORK      Into a fork of the conversation, "), "{told}");
        assert!(told.lines().all(|line| line.len() <= 90 || line.contains("'{")), "{told}");
    }

    #[test]
    fn what_a_request_contains_is_told_once() {
        let told = told(&named("MemorizeStream").unwrap(), 90);
        for heading in ["MemorizeStreamRequest:", "MemorizeRequest:", "NewUtterance:", "Role:", "ToolCall:"] {
            assert_eq!(told.lines().filter(|line| *line == heading).count(), 1, "{told}");
        }
        assert!(told.contains("Reads requests from stdin"), "{told}");
        assert!(told.contains("(base64; one of data, json)"), "{told}");
    }
}
