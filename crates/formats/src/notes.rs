//! Notes on a file that is being read, and what reading tolerates.

use serde_json::{Map, Value};

use crate::place::Place;
use utterd_domain::{Reason, Refusal, Result, Role, quoted};

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
    unknown_roles: UnknownRoles,
    list: Vec<Note>,
}

impl Notes {
    /// Starts without notes.
    pub fn new(unknown_roles: UnknownRoles) -> Self {
        Self { unknown_roles, list: Vec::new() }
    }

    /// Adds a note about `place`.
    pub fn add(&mut self, place: &Place<'_>, description: impl Into<String>) {
        self.list.push(Note { place: place.to_string(), description: description.into() });
    }

    /// Notes the fields that the format does not have.
    pub fn not_kept<'f>(&mut self, names: impl Iterator<Item = &'f String>, place: &Place<'_>) {
        names.for_each(|name| self.add(&place.field(name), "is not kept: the format has no such field"));
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

    /// All notes, in the order in which they were made.
    pub fn into_vec(self) -> Vec<Note> {
        self.list
    }
}
