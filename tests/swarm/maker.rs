//! Makes requests: each field is filled with what its name and type suggest.

use std::collections::HashMap;

use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, MethodDescriptor, Value,
};

use crate::{
    dice::Dice,
    seen::{Seen, kind_of},
    texts::Texts,
};

/// Fields that most requests need.
const LIKELY: &[&str] = &[
    "answer",
    "content",
    "conversation_id",
    "format",
    "header",
    "instructions",
    "memorize",
    "messages_json",
    "prompt",
    "recall",
    "role",
    "set",
    "share_id",
    "texts",
    "title",
    "token",
    "token_budget",
    "update_mask",
    "utterance_id",
    "utterance_ids",
    "utterances",
    "json",
    "name",
];
/// Fields that rarely suit the rest of a request.
const UNLIKELY: &[&str] =
    &["expected_revision", "expected_versions", "expire_after", "lenient", "page_token"];
const CONVERSATIONS: [&str; 6] = ["c0", "c1", "c2", "c3", "c4", "c5"];
const RECIPIENTS: [&str; 3] = ["alice", "bob", "default"];
const SAYINGS: &[&str] = &[
    "forget the last 3 messages",
    "remove everything the user said before turn 5",
    "speaker:assistant",
    "about:tokens",
    "position:2",
    "forget what we said about \"store\"",
    "scratch that",
    "older than 1 hour",
    "tool:bash",
    "last:2",
    "forget everything",
    "all",
    "oldest",
    "newest",
    "sequence:2-4",
];
const MASKS: [&str; 6] = ["title", "policy", "labels", "pinned", "metadata", "content"];
const ENCODINGS: [&str; 5] = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base", "gpt-4o"];
/// A message within this many others has no fields.
const MOST_DEPTH: usize = 5;

/// A source of requests.
pub struct Maker {
    pub dice: Dice,
    pub seen: Seen,
    texts: Texts,
}

impl Maker {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), seen: Seen::default(), texts: Texts::read() }
    }

    /// The requests of one call.
    pub fn requests(&mut self, method: &MethodDescriptor) -> Vec<DynamicMessage> {
        let more = if method.is_client_streaming() { self.dice.below(5) } else { 0 };
        (0..=more).map(|number| self.message(&method.input(), 0, number as usize)).collect()
    }

    /// A message within `depth` others; of a stream, the one with this number.
    fn message(&mut self, of: &MessageDescriptor, depth: usize, number: usize) -> DynamicMessage {
        let mut message = DynamicMessage::new(of.clone());
        let is_choice =
            |field: &FieldDescriptor| field.containing_oneof().is_some_and(|one| !one.is_synthetic());
        for field in of.fields().filter(|field| !is_choice(field)) {
            let chance = match field.name() {
                name if LIKELY.contains(&name) => 75,
                name if UNLIKELY.contains(&name) => 5,
                _ => [12, 30][depth.min(1)],
            };
            if self.dice.percent(chance) {
                let value = self.value(&field, depth);
                message.set_field(&field, value);
            }
        }
        for choice in of.oneofs().filter(|choice| !choice.is_synthetic()) {
            // the first message of a stream is its header
            let fields: Vec<_> = choice.fields().collect();
            let place = number.min(fields.len() - 1);
            let field =
                if depth == 0 { fields[place].clone() } else { self.dice.pick(&fields).expect("one") };
            let value = self.value(&field, depth);
            message.set_field(&field, value);
        }
        if of.name() == "NewUtterance" && self.dice.percent(95) {
            self.make_plain(&mut message);
        }
        message
    }

    /// Makes an utterance one that is rarely refused.
    fn make_plain(&mut self, utterance: &mut DynamicMessage) {
        let role = self.dice.weighted(&[(1, 1), (5, 2), (5, 3)]);
        utterance.set_field_by_name("role", Value::EnumNumber(role));
        let content = self.texts.piece(&mut self.dice, 8_000);
        utterance.set_field_by_name("content", Value::String(content));
        utterance.clear_field_by_name("tool_call_id");
        utterance.clear_field_by_name("extras_json");
        if self.dice.percent(80) {
            utterance.clear_field_by_name("tool_calls");
        }
    }

    /// A value of a field in a message within `depth` others.
    pub fn value(&mut self, field: &FieldDescriptor, depth: usize) -> Value {
        let count = 1 + self.dice.below(5);
        if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
            let of = entry.map_entry_value_field();
            let entries = (0..count).map(|_| {
                let key = self.dice.pick(&["city", "trip", "a", "é"]).unwrap_or_default();
                (MapKey::String(key.to_owned()), self.single(&of, depth))
            });
            return Value::Map(HashMap::from_iter(entries));
        }
        match field.is_list() {
            true => Value::List((0..count).map(|_| self.single(field, depth)).collect()),
            false => self.single(field, depth),
        }
    }

    fn single(&mut self, field: &FieldDescriptor, depth: usize) -> Value {
        let name = field.name();
        match field.kind() {
            Kind::Message(of) => Value::Message(self.inner(&of, depth)),
            Kind::Enum(of) => Value::EnumNumber(self.choice(&of)),
            Kind::String => Value::String(self.string(name)),
            Kind::Bytes => Value::Bytes(self.string(name).into_bytes().into()),
            Kind::Bool => Value::Bool(self.dice.percent(50)),
            Kind::Double => {
                Value::F64(self.dice.pick(&[0.0, 0.2, 0.5, 0.9, 1.0, -1.0, f64::NAN]).unwrap_or(0.0))
            }
            Kind::Int32 => Value::I32(i32::try_from(self.number(name)).unwrap_or(i32::MAX)),
            Kind::Int64 => match kind_of(name).and_then(|kind| self.seen.one(kind, &mut self.dice)) {
                Some(seen @ Value::I64(_)) if self.dice.percent(90) => seen,
                _ => Value::I64(self.number(name)),
            },
            kind => panic!("{name} is of the kind {kind:?}: add it here"),
        }
    }

    fn inner(&mut self, of: &MessageDescriptor, depth: usize) -> DynamicMessage {
        let mut message = DynamicMessage::new(of.clone());
        match of.full_name() {
            "google.protobuf.Timestamp" => {
                // around the day of the tests' clock
                let seconds = 1_772_366_400 + self.dice.below(200_000).cast_signed() - 100_000;
                message.set_field_by_name("seconds", Value::I64(seconds));
            }
            "google.protobuf.Duration" => {
                let seconds = self.dice.pick(&[0, 1, 60, 3_600, 86_400]).unwrap_or(0);
                message.set_field_by_name("seconds", Value::I64(seconds));
            }
            "google.protobuf.FieldMask" => {
                let path = self.dice.pick(&MASKS).unwrap_or_default().to_owned();
                message.set_field_by_name("paths", Value::List(vec![Value::String(path)]));
            }
            _ if depth < MOST_DEPTH => message = self.message(of, depth + 1, 0),
            _ => {}
        }
        message
    }

    fn choice(&mut self, of: &EnumDescriptor) -> i32 {
        let numbers: Vec<i32> = of.values().map(|value| value.number()).collect();
        match self.dice.below(100) {
            0 => 99,
            1..10 => 0,
            _ => self.dice.pick(&numbers).unwrap_or(0),
        }
    }

    fn string(&mut self, name: &str) -> String {
        let Self { dice, seen, texts } = self;
        let kind = kind_of(name);
        let known =
            kind.and_then(|kind| seen.one(kind, dice)).and_then(|known| known.as_str().map(str::to_owned));
        match (kind, known) {
            (Some("conversation"), known) => match (dice.below(100), known) {
                (0..3, _) => texts.piece(dice, 64),
                (3..30, Some(known)) => known,
                (30..50, _) if seen.latest().is_some() => seen.latest().unwrap_or_default().to_owned(),
                _ => dice.pick(&CONVERSATIONS).unwrap_or_default().to_owned(),
            },
            (Some("history"), Some(known)) if dice.percent(20) => known,
            (Some("history"), _) if dice.percent(95) => texts.chat(dice),
            (Some(_), Some(known)) if dice.percent(90) => known,
            (Some("utterance"), _) => format!("u{}", dice.below(300)),
            (Some("page_token"), _) => texts.piece(dice, 100),
            _ if name.contains("recipient") => dice.pick(&RECIPIENTS).unwrap_or_default().to_owned(),
            _ if name == "instructions" && dice.percent(70) => {
                dice.pick(SAYINGS).unwrap_or_default().to_owned()
            }
            _ if name == "request_id" => format!("r{}", dice.below(400)),
            _ if matches!(name, "encoding" | "model") && dice.percent(80) => {
                dice.pick(&ENCODINGS).unwrap_or_default().to_owned()
            }
            _ if name == "json" => serde_json::json!({"text": texts.piece(dice, 2_000)}).to_string(),
            _ if matches!(name, "name" | "names" | "delete" | "id" | "session_id") && dice.percent(70) => {
                dice.pick(&["alice", "bash", "city", "trip"]).unwrap_or_default().to_owned()
            }
            _ => texts.piece(dice, 60_000),
        }
    }

    fn number(&mut self, name: &str) -> i64 {
        let dice = &mut self.dice;
        let is_amount = ["budget", "tokens", "limit", "bytes"].iter().any(|part| name.contains(part));
        match dice.below(100) {
            0 => -1,
            1 => i64::from(i32::MAX),
            _ if name.contains("percent") => dice.below(101).cast_signed(),
            _ if is_amount => dice.pick(&[0, 5, 30, 200, 1_000, 4_000, 20_000, 100_000]).unwrap_or(0),
            2..80 => dice.below(40).cast_signed(),
            _ => dice.below(3_000).cast_signed(),
        }
    }
}
