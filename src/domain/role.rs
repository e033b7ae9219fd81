//! Who speaks.

use std::{fmt, str::FromStr};

/// The speaker of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// All four, in their order.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The lower-case word for it.
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

/// A text that names none of the four roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a role; accepted are system, user, assistant and tool")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    /// Reads exactly one of the four lower-case words; a caller that is more tolerant
    /// lowers the case first.
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_reads_its_own_word_and_no_other() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        for text in ["", "User", "robot", " user", "USER"] {
            assert_eq!(text.parse::<Role>(), Err(UnknownRole));
        }
    }
}
