//! How a provider's messages are read and written: in one way for exports, contexts, histories and single messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    Format, Sourced,
    extras::{self, Parts},
    place::{Notes, Place},
    texts::kind,
    vision,
};
use utterd_domain::{Draft, Result, context, exchange::call_ids::Rule};

/// How the messages of a provider are read and written.
pub struct Provider {
    /// Its format.
    pub format: Format,
    /// The format of contexts whose rules for texts and for the names of tools apply.
    pub wording: context::Format,
    /// What it accepts as a call id.
    pub ids: Rule,
    /// Whether it checks the names of speakers.
    pub checks_names: bool,
    /// What an utterance is in this format, with holes for the texts: a message, or the blocks or items of one.
    pub canonical: fn(&Parts<'_>) -> Value,
    /// What goes to the API of an utterance as it came. Empty if nothing is said or called.
    pub sent: fn(&Parts<'_>, Vec<Value>, &mut LeftOut) -> Vec<Value>,
    /// The fields of an object that may hold the messages of a conversation.
    pub lists: &'static [&'static str],
    /// Reads the messages of a conversation, which are at this place, and what the object around them says.
    pub read: Read,
}

/// Reads messages, which are at a place, and the fields of the object around them.
pub type Read = fn(Value, &mut Map<String, Value>, &Place<'_>, &mut Notes) -> Result<Vec<Sourced>>;
/// The names of blocks and fields that are left out.
pub type LeftOut = BTreeSet<String>;
/// Whether an API refuses a field with this value, of an object of this type.
pub type Refuses = fn(&str, &str, &Value) -> bool;

/// Where utterd's adapters keep a framework's own message. No model reads it.
pub const FRAMEWORKS: &str = "agent_framework ai_sdk google_adk langchain langgraph_branch llama_index openai_agents \
    openai_agents_js pydantic_ai strands";

impl Provider {
    /// The field of an object that holds the messages.
    pub fn list(&self, fields: &Map<String, Value>) -> &'static str {
        self.lists.iter().find(|list| fields.contains_key(**list)).unwrap_or(&self.lists[0])
    }

    /// The messages of a conversation that `said` this, in the object in which they came, if they did.
    pub fn enclosed(&self, messages: Value, said: &[Parts<'_>]) -> Value {
        let Some(mut document) = extras::document(said, self.format) else { return messages };
        document.insert(self.list(&document).to_owned(), messages);
        Value::Object(document)
    }

    /// An utterance with the details that are `kept` of it, and whether these still fit.
    pub fn write(&self, parts: &Parts<'_>, kept: Option<&Value>) -> (Vec<Value>, bool) {
        let (written, fits) = parts.render(kept, || (self.canonical)(parts));
        let list = match written {
            Value::Array(list) => list,
            one => vec![one],
        };
        (list, fits)
    }

    /// An utterance with all that is kept of it.
    pub fn original(&self, parts: &Parts<'_>) -> Vec<Value> {
        self.write(parts, parts.kept(self.format).as_ref()).0
    }

    /// An utterance without anything that is kept of it.
    pub fn plain(&self, parts: &Parts<'_>) -> Vec<Value> {
        self.write(parts, None).0
    }

    /// Keeps with the draft what its canonical form does not reproduce of `source`, and counts the pictures in it.
    /// `hollow` is `source` with its holes punched.
    pub fn keep_difference(&self, draft: &mut Draft, source: &Value, hollow: &Value) {
        extras::keep_difference(draft, self.format, source, hollow, self.canonical);
        let tokens = vision::tokens(source, self.format);
        if tokens > 0 {
            draft.more.get_or_insert_default().extras_tokens = tokens;
        }
    }
}

/// Puts the `fields` of the calls and results among `plain` into those of a message as it came, which have the same types.
/// Returns whether both have as many.
pub fn rename(came: &mut [Value], plain: &[Value], kinds: [&str; 2], fields: &[&str]) -> bool {
    let is_exchange = |block: &Value| kinds.contains(&kind(block));
    let plain: Vec<&Value> = plain.iter().filter(|block| is_exchange(block)).collect();
    let mut own: Vec<&mut Value> = came.iter_mut().filter(|block| is_exchange(block)).collect();
    for (own, plain) in own.iter_mut().zip(&plain) {
        for (field, value) in fields.iter().filter_map(|field| Some((*field, plain.get(*field)?))) {
            own[field] = value.clone();
        }
    }
    own.len() == plain.len()
}

/// Removes the fields that an API refuses, which `refuses` tells by the type of an object, or the field `around` it, and
/// names them. The input of a call stays as it is.
pub fn strip(value: &mut Value, around: &str, refuses: Refuses, left_out: &mut LeftOut) {
    let fields = match value {
        Value::Array(values) => {
            return values.iter_mut().for_each(|value| strip(value, around, refuses, left_out));
        }
        Value::Object(fields) => fields,
        _ => return,
    };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or(around).to_owned();
    fields.retain(|field, value| {
        let refused = refuses(&kind, field, value);
        if refused && !is_nothing(value) {
            left_out.insert(named(&kind, field));
        }
        !refused
    });
    for (field, value) in fields.iter_mut().filter(|(field, _)| *field != "input") {
        strip(value, field, refuses, left_out);
    }
}

/// The name of a field of an object of this type.
pub fn named(kind: &str, field: &str) -> String {
    if kind.is_empty() { field.to_owned() } else { format!("{kind}.{field}") }
}

/// Whether a value tells nothing.
pub fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
