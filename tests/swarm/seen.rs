//! What answers told: what later requests refer to.

use std::collections::HashMap;

use prost_reflect::{DynamicMessage, Value};

use crate::dice::Dice;

/// The most values remembered of each kind: the newest.
const MOST: usize = 64;

/// Values by the kind of thing that they name.
#[derive(Default)]
pub struct Seen {
    by_kind: HashMap<&'static str, Vec<Value>>,
    latest: Option<String>,
}

impl Seen {
    /// One that was seen of a kind.
    pub fn one(&self, kind: &str, dice: &mut Dice) -> Option<Value> {
        dice.pick(self.by_kind.get(kind)?)
    }

    /// The conversation that the last answer told of.
    pub fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }

    /// All the strings that are remembered of a kind.
    pub fn strings(&self, kind: &str) -> Vec<String> {
        let all = self.by_kind.get(kind).into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Remembers what a message tells, and what is within it.
    pub fn learn(&mut self, message: &DynamicMessage) {
        for (field, value) in message.fields() {
            match (kind_of(field.name()), value) {
                (_, Value::Message(inner)) => self.learn(inner),
                (_, Value::List(items)) => {
                    items.iter().filter_map(Value::as_message).for_each(|inner| self.learn(inner));
                }
                (Some(kind), Value::Bytes(bytes)) => {
                    // an export is text, a backup is not
                    let text = String::from_utf8(bytes.to_vec()).ok();
                    text.into_iter().for_each(|text| self.add(kind, Value::String(text)));
                }
                (Some(kind), value) => self.add(kind, value.clone()),
                _ => {}
            }
        }
    }

    /// Remembers a value, unless it is there.
    pub fn add(&mut self, kind: &'static str, value: Value) {
        if let ("conversation", Some(id)) = (kind, value.as_str()) {
            self.latest = Some(id.to_owned());
        }
        let all = self.by_kind.entry(kind).or_default();
        if !all.contains(&value) {
            all.push(value);
            if all.len() > MOST {
                all.remove(0);
            }
        }
    }
}

/// What the field of this name tells or asks for.
pub fn kind_of(field: &str) -> Option<&'static str> {
    Some(match field {
        "conversation_id" | "new_conversation_id" | "forked_conversation_id" | "ended_conversation_id" => {
            "conversation"
        }
        "utterance_id" | "utterance_ids" | "message_ids" => "utterance",
        "page_token" | "next_page_token" => "page_token",
        "share_id" => "share",
        "token" => "share_token",
        "event_id" | "last_event_id" | "after_event" => "event",
        "revision" | "expected_revision" => "revision",
        "sequence" | "at_sequence" | "after_sequence" | "before_sequence" | "replace_after" => "sequence",
        "min_sequence" | "max_sequence" | "first" | "last_sequence" => "sequence",
        "chunk" | "messages_json" => "history",
        _ => return None,
    })
}
