//! Numbers of the messages in JSON: a 64-bit one is a string there, and a 0 without presence is absent.

use std::collections::BTreeSet;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::support::wire::{methods, pool};

/// Fields with more than 32 bits: sequences, revisions, and versions.
const LONG: [&str; 12] = [
    "after_sequence",
    "at_sequence",
    "before_sequence",
    "expected_revision",
    "first",
    "last",
    "max_sequence",
    "min_sequence",
    "replace_after",
    "revision",
    "sequence",
    "version",
];
/// The values of a map of versions.
const VERSIONS: &str = ".ExpectedVersionsEntry.value";
/// Fields that count from 1, and so are never 0.
const FROM_ONE: [&str; 7] =
    ["answered_count", "first", "last", "revision", "segment_number", "sequence", "version"];

fn is_ours(message: &MessageDescriptor) -> bool {
    message.package_name() == "utterd.v1"
}

/// The names of the fields of these messages that `wanted` accepts.
fn picked(
    messages: impl IntoIterator<Item = MessageDescriptor>,
    wanted: impl Fn(&FieldDescriptor) -> bool,
) -> Vec<String> {
    let fields = |message: MessageDescriptor| message.fields().collect::<Vec<_>>();
    let fields = messages.into_iter().filter(is_ours).flat_map(fields);
    fields.filter(wanted).map(|field| field.full_name().to_owned()).collect()
}

#[test]
fn only_sequences_and_revisions_have_64_bits() {
    let long =
        |kind| matches!(kind, Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64);
    let strings = picked(pool().all_messages(), |field| {
        long(field.kind()) && !LONG.contains(&field.name()) && !field.full_name().ends_with(VERSIONS)
    });
    assert_eq!(strings, [""; 0]);
}

#[test]
fn a_zero_of_a_response_is_seen() {
    let mut waiting: Vec<_> = methods().into_iter().map(|method| method.output()).collect();
    let mut told = BTreeSet::new();
    let mut messages = Vec::new();
    while let Some(message) = waiting.pop() {
        if told.insert(message.full_name().to_owned()) {
            waiting.extend(message.fields().filter_map(|field| field.kind().as_message().cloned()));
            messages.push(message);
        }
    }
    assert!(told.contains("utterd.v1.Capacity") && told.contains("utterd.v1.ToolCount"));
    let plain = |field: &FieldDescriptor| {
        let number = matches!(field.kind(), Kind::Int32 | Kind::Int64 | Kind::Float | Kind::Double);
        number && !field.is_list() && !field.supports_presence() && !FROM_ONE.contains(&field.name())
    };
    assert_eq!(picked(messages, plain), [""; 0]);
}
