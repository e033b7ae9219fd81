//! The place of a value in the input.

use std::fmt;

use serde_json::Value;

use utterd_domain::Refusal;

/// The place of a value in the input, such as `messages[3].tool_calls[0].id`.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    outer: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Field(&'a str),
    Index(usize),
    Lines,
}

impl<'a> Place<'a> {
    /// The outermost place.
    pub fn root(name: &'a str) -> Self {
        Self { outer: None, step: Step::Field(name) }
    }

    /// A file with one value per line.
    pub fn lines() -> Self {
        Self { outer: None, step: Step::Lines }
    }

    /// A field of the object at this place.
    pub fn field(&'a self, name: &'a str) -> Self {
        Self { outer: Some(self), step: Step::Field(name) }
    }

    /// An element of the array at this place, from 0.
    pub fn index(&'a self, index: usize) -> Self {
        Self { outer: Some(self), step: Step::Index(index) }
    }

    /// Refuses the value at this place.
    pub fn refuse(&self, description: impl Into<String>) -> Refusal {
        Refusal::invalid(self.to_string(), description)
    }

    /// Refuses `value` at this place because of its type.
    pub fn refuse_kind(&self, value: &Value, accepted: &str) -> Refusal {
        self.refuse(format!("is {}; accepted: {accepted}", kind(value)))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            outer.fmt(f)?;
        }
        match (self.step, self.outer) {
            (Step::Lines, _) => Ok(()),
            (Step::Index(index), Some(Place { step: Step::Lines, .. })) => write!(f, "line {}", index + 1),
            (Step::Index(index), _) => write!(f, "[{index}]"),
            (Step::Field(name), None | Some(Place { step: Step::Field(""), .. })) => f.write_str(name),
            (Step::Field(name), _) => write!(f, ".{name}"),
        }
    }
}

/// The type of a value, in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_like_a_path() {
        let messages = Place::root("messages");
        let (third, calls) = (messages.index(3), "tool_calls");
        let calls = third.field(calls);
        assert_eq!(calls.index(0).field("id").to_string(), "messages[3].tool_calls[0].id");
        assert_eq!(Place::root("").field("messages").to_string(), "messages");
        assert_eq!(Place::lines().index(3).field("role").to_string(), "line 4.role");
    }
}
