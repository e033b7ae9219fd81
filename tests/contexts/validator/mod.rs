//! Whether a provider would take messages, by its published rules. Shares no code with the server.

pub mod anthropic;
pub mod openai;

use serde_json::{Map, Value};

/// A rule that messages break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// It is JSON, and an array of at least one message.
    Messages,
    /// A message, a block or a call is an object with the fields of its kind, each of its type.
    Shape,
    /// There are no other fields.
    UnknownField,
    /// The role is one of the format's.
    Role,
    /// Text is not empty (Anthropic: not white space either).
    EmptyText,
    /// Names hold only the characters of their pattern, and are not too long.
    Name,
    /// Ids of calls hold only the characters of their pattern, and are not too long.
    CallId,
    /// No two calls have one id.
    UniqueId,
    /// A result answers a call of the assistant's message directly before.
    Orphan,
    /// Each call of an assistant's message is answered directly behind it.
    Unanswered,
    /// A call is answered once.
    AnsweredTwice,
    /// The first message is a user's.
    FirstIsUser,
    /// User and assistant take turns.
    Alternation,
    /// The results stand before anything else of their message.
    ResultsFirst,
    /// The input of a call is an object.
    Input,
    /// The last assistant's text does not end in white space.
    TrailingSpace,
}

/// A rule broken at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The message, from 0.
    pub message: usize,
    /// The rule.
    pub rule: Rule,
    /// What was found.
    pub text: String,
}

/// What was found so far.
#[derive(Default)]
struct Faults {
    found: Vec<Fault>,
    message: usize,
}

impl Faults {
    fn add(&mut self, rule: Rule, text: impl Into<String>) {
        self.found.push(Fault { message: self.message, rule, text: text.into() });
    }

    /// Notes the rule where something does not hold.
    fn unless(&mut self, holds: bool, rule: Rule, text: impl FnOnce() -> String) {
        if !holds {
            self.add(rule, text());
        }
    }

    /// The messages of an array that has some.
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
