//! Whether a provider would accept messages, by its published rules. Shares no code with the server.

pub mod anthropic;
pub mod openai;

use serde_json::{Map, Value};

/// A rule that messages break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// It is JSON, and an array of at least one message.
    Messages,
    /// A message, a block or a call is an object with the fields of its kind, each of the right type.
    Shape,
    /// There are no other fields.
    UnknownField,
    /// The role is one of the format's.
    Role,
    /// Text is not empty (for Anthropic, also not blank).
    EmptyText,
    /// Names match their pattern, and are not too long.
    Name,
    /// Call ids match their pattern, and are not too long.
    CallId,
    /// No two calls have the same id.
    UniqueId,
    /// A result answers a call of the assistant message directly before it.
    Orphan,
    /// Each call of an assistant message is answered directly after it.
    Unanswered,
    /// A call is answered once.
    AnsweredTwice,
    /// The first message is a user's.
    FirstIsUser,
    /// User and assistant alternate.
    Alternation,
    /// The results precede everything else in their message.
    ResultsFirst,
    /// The input of a call is an object.
    Input,
    /// The last assistant text does not end with white space.
    TrailingSpace,
}

/// A broken rule and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The message, from 0.
    pub message: usize,
    /// The rule.
    pub rule: Rule,
    /// What was found.
    pub text: String,
}

/// The faults found so far.
#[derive(Default)]
struct Faults {
    found: Vec<Fault>,
    message: usize,
}

impl Faults {
    fn add(&mut self, rule: Rule, text: impl Into<String>) {
        self.found.push(Fault { message: self.message, rule, text: text.into() });
    }

    /// Records the rule if the condition does not hold.
    fn unless(&mut self, holds: bool, rule: Rule, text: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, text());
        }
    }

    /// The messages of a non-empty array.
    fn messages(&mut self, json: &str) -> Vec<Value> {
        match serde_json::from_str(json) {
            Ok(Value::Array(messages)) if !messages.is_empty() => return messages,
            Ok(other) => self.add(Rule::Messages, format!("{other:.60}")),
            Err(error) => self.add(Rule::Messages, error.to_string()),
        }
        Vec::new()
    }

    fn object<'a>(&mut self, value: &'a Value) -> Option<&'a Map<String, Value>> {
        self.unless(value.is_object(), Rule::Shape, || format!("{value} is no object"));
        value.as_object()
    }

    fn string<'a>(&mut self, fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
        let text = fields.get(name).and_then(Value::as_str);
        self.unless(text.is_some(), Rule::Shape, || format!("{name} is {:?}, no text", fields.get(name)));
        text
    }

    fn only(&mut self, fields: &Map<String, Value>, known: &[&str]) {
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            self.add(Rule::UnknownField, name.clone());
        }
    }

    /// Letters, digits, `_` and `-`.
    fn word(&mut self, word: &str, most: usize, rule: Rule) {
        let accepted = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        let holds = !word.is_empty() && word.chars().count() <= most && word.chars().all(accepted);
        self.unless(holds, rule, || format!("{word:?}"));
    }

    fn text(&mut self, text: &str, empty: impl Fn(&str) -> bool) {
        self.unless(!empty(text), Rule::EmptyText, || format!("{text:?}"));
    }
}
