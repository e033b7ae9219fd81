//! The place of a value in the input, notes on it, and what reading tolerates.

use std::fmt;

use serde_json::{Map, Value};

use utterd_domain::{Reason, Refusal, Result, Role, Size, quoted};

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

    /// Another field of the object that this place is in.
    pub fn beside(&self, name: &'a str) -> Self {
        Self { outer: self.outer, step: Step::Field(name) }
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

/// Something that the owner of a file might want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The place, such as `messages[3].role`.
    pub place: String,
    /// What was found there.
    pub description: String,
}

/// What happens to a message whose role is not among the names of [`Role::named`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownRoles {
    /// The file is refused, with the place.
    #[default]
    Refuse,
    /// The message is read as the user's, with a note: an unknown name earns no more authority than that.
    ReadAsUser,
}

/// The notes of a file that is being read.
#[derive(Debug, Default)]
pub struct Notes {
    /// What happens to messages with unknown roles.
    pub unknown_roles: UnknownRoles,
    /// The notes, in the order in which they were made.
    pub list: Vec<Note>,
    /// The bytes of the file.
    pub bytes: usize,
    /// The bytes of it that are read again, in branches.
    pub repeated: usize,
}

impl Notes {
    /// Adds a note about `place`.
    pub fn add(&mut self, place: &Place<'_>, description: impl Into<String>) {
        self.list.push(Note { place: place.to_string(), description: description.into() });
    }

    /// Notes the fields that the format does not have.
    pub fn not_kept<'f>(&mut self, names: impl Iterator<Item = &'f String>, place: &Place<'_>) {
        names.for_each(|name| self.add(&place.field(name), "is not kept: the format has no such field"));
    }

    /// Counts bytes that are read again. Refuses to read more again than the file has.
    pub fn repeat(&mut self, bytes: usize) -> Result<()> {
        self.repeated += bytes;
        let size = Size { bytes: self.repeated, limit: self.bytes };
        let text =
            "has branches within exchanges, which repeat more than all of it; accepted: at most as much";
        let refuse = || Refusal::too_large_since("content", size, text);
        (self.repeated <= self.bytes).then_some(()).ok_or_else(refuse)
    }

    /// The role of a message.
    pub fn role(&mut self, message: &Map<String, Value>, place: &Place<'_>) -> Result<Role> {
        let at = place.field("role");
        let name = match message.get("role") {
            Some(Value::String(name)) => name,
            Some(other) => return Err(at.refuse_kind(other, "text")),
            None => return Err(at.refuse(format!("is missing; accepted: {}", Role::ACCEPTED))),
        };
        match (Role::named(name), self.unknown_roles) {
            (Some(role), _) => Ok(role),
            (None, UnknownRoles::Refuse) => {
                let text = format!("is {}; accepted: {}", quoted(name), Role::ACCEPTED);
                Err(Refusal::field(Reason::UnknownRole, at.to_string(), text))
            }
            (None, UnknownRoles::ReadAsUser) => {
                self.add(&at, format!("the role {} is unknown: read as the user's", quoted(name)));
                Ok(Role::User)
            }
        }
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
