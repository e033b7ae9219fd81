//! The roles of speakers.

use std::fmt;

/// The speaker of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Role {
    /// Instructions to the assistant.
    System,
    /// The person, or the program, that the assistant serves.
    User,
    /// The model.
    Assistant,
    /// The result of a call that the assistant made.
    Tool,
}

impl Role {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The names of roles in messages: the four, and those that providers and their older formats use.
    const NAMES: [(&str, Self); 10] = [
        ("system", Self::System),
        ("developer", Self::System),
        ("user", Self::User),
        ("human", Self::User),
        ("assistant", Self::Assistant),
        ("ai", Self::Assistant),
        ("bot", Self::Assistant),
        ("model", Self::Assistant),
        ("tool", Self::Tool),
        ("function", Self::Tool),
    ];

    /// The names that [`named`](Self::named) accepts, for a refusal.
    pub const ACCEPTED: &str =
        "system, developer, user, human, assistant, ai, bot, model, tool and function, in any case";

    /// The role that a message calls `name`, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is_named = |(known, _): &&(&str, Self)| known.eq_ignore_ascii_case(name);
        Self::NAMES.iter().find(is_named).map(|(_, role)| *role)
    }

    /// Its lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_names_in_any_case() {
        for role in Role::ALL {
            assert_eq!(Role::named(role.as_str()), Some(role));
        }
        assert_eq!(Role::named("Human"), Some(Role::User));
        assert_eq!(Role::named("MODEL"), Some(Role::Assistant));
        for text in ["", "robot", " user", "users"] {
            assert_eq!(Role::named(text), None);
        }
    }

    #[test]
    fn a_refusal_lists_every_name() {
        let listed = Role::ACCEPTED.trim_end_matches(", in any case").replace(" and ", ", ");
        let known = Role::NAMES.map(|(name, _)| name).join(", ");
        assert_eq!(listed, known);
    }
}
