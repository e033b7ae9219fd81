//! Identifiers. Each is checked when it is created, so that an invalid one cannot exist.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use serde::{Deserialize, Deserializer, de::Error as _};

use crate::limits::MAX_ID_BYTES;

/// Why a text is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("is empty; accepted: 1 to {MAX_ID_BYTES} bytes of text")]
    Empty,
    /// The text is longer than [`MAX_ID_BYTES`].
    #[error("has {0} bytes; accepted: 1 to {MAX_ID_BYTES} bytes of text")]
    TooLong(usize),
    /// The text holds a control character.
    #[error(
        "holds a control character; accepted: 1 to {MAX_ID_BYTES} bytes of text without control characters"
    )]
    ControlCharacter,
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_ID_BYTES {
        return Err(IdError::TooLong(text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::ControlCharacter);
    }
    Ok(())
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, read by $read:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub struct $name(Arc<str>);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::$read(<&str>::deserialize(from)?).map_err(D::Error::custom)
            }
        }

        impl $name {
            /// Checks `text`: 1 to [`MAX_ID_BYTES`] bytes, no control character.
            pub fn new(text: &str) -> Result<Self, IdError> {
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// The isolation boundary (a tenant): part of every key.
    Namespace, read by new
}
text_id! {
    /// Names the recipient a conversation belongs to.
    RecipientId, read by new
}
text_id! {
    /// Names one conversation within a namespace.
    ConversationId, read by kept
}
text_id! {
    /// Names one attempt of a mutating call, so that a retry is recognised (AIP-155).
    RequestId, read by new
}
text_id! {
    /// Names one share of a conversation.
    ShareId, read by new
}

/// The name of a namespace or recipient that was not given; allocated once.
static DEFAULT: LazyLock<Arc<str>> = LazyLock::new(|| "default".into());

impl Default for Namespace {
    fn default() -> Self {
        Self(DEFAULT.clone())
    }
}

impl Default for RecipientId {
    fn default() -> Self {
        Self(DEFAULT.clone())
    }
}

/// The series of utterances that a conversation writes to. A fork reads its parent's
/// lineage up to the fork point and writes its own, so that both share what neither changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct LineageId(pub [u8; 16]);

/// Names one committed state of a conversation, unique among all its states.
#[derive(
    Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct ChangeId(pub [u8; 16]);

impl LineageId {
    /// 26 characters of Crockford's base 32, like a ULID.
    pub(crate) fn digits(self) -> [u8; 26] {
        digits(self.0)
    }
}

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn digits(id: [u8; 16]) -> [u8; 26] {
    let (mut rest, mut digits) = (u128::from_be_bytes(id), [0; 26]);
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest as usize & 31];
        rest >>= 5;
    }
    digits
}

macro_rules! shown_as_a_ulid {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(str::from_utf8(&digits(self.0)).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

shown_as_a_ulid!(LineageId);
shown_as_a_ulid!(ChangeId);

/// The prefix of the ids that no caller can give.
const RESERVED: char = '\u{1}';

impl ConversationId {
    /// The id that the server makes from 128 unique bits: 26 letters and digits.
    pub fn assigned(unique: u128) -> Self {
        Self(LineageId(unique.to_be_bytes()).to_string().into())
    }

    /// The id under which a recipient's own state is kept, as the state of a conversation in which nothing is
    /// said. It begins with a control character, so that no caller can name it.
    pub fn of_state(recipient: &RecipientId) -> Self {
        Self(format!("{RESERVED}{recipient}").into())
    }

    /// The stand-in for such an id in an outcome, so that no outcome names a recipient.
    pub fn of_some_state() -> Self {
        Self(RESERVED.to_string().into())
    }

    /// Whether a recipient's own state is kept under this id.
    pub fn is_of_state(&self) -> bool {
        self.of_whose_state().is_some()
    }

    /// The recipient whose own state is kept under this id.
    pub fn of_whose_state(&self) -> Option<&str> {
        self.0.strip_prefix(RESERVED)
    }

    /// Checks an id read from a store: as [`Self::new`] does, or the id of a recipient's own state.
    pub fn kept(text: &str) -> Result<Self, IdError> {
        match text.strip_prefix(RESERVED) {
            Some("") => Ok(Self::of_some_state()),
            Some(recipient) => Ok(Self::of_state(&RecipientId::new(recipient)?)),
            None => Self::new(text),
        }
    }
}

impl ShareId {
    /// The id that the server makes from 128 unique bits: 26 letters and digits.
    pub fn assigned(unique: u128) -> Self {
        Self(LineageId(unique.to_be_bytes()).to_string().into())
    }
}

/// Names one utterance within its conversation.
///
/// An assigned id is written `LINEAGE-SEQUENCE` and takes no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum UtteranceId {
    /// Made by the server from the lineage the utterance was written to.
    Assigned(LineageId),
    /// Given by the client; unique in its conversation.
    Given(Box<str>),
}

impl UtteranceId {
    /// Checks an id given by a client.
    pub fn given(text: &str) -> Result<Self, IdError> {
        check(text)?;
        Ok(Self::Given(text.into()))
    }
}

/// Names a conversation across all namespaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ConversationKey {
    /// The tenant.
    pub namespace: Namespace,
    /// The conversation.
    pub id: ConversationId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_checked() {
        assert_eq!(ConversationId::new(""), Err(IdError::Empty));
        assert_eq!(ConversationId::new(&"x".repeat(257)), Err(IdError::TooLong(257)));
        assert_eq!(RecipientId::new("a\nb"), Err(IdError::ControlCharacter));
        assert!(RequestId::new(&"é".repeat(128)).is_ok());
    }

    #[test]
    fn nobody_names_a_recipients_state() {
        let longest = RecipientId::new(&"x".repeat(MAX_ID_BYTES)).unwrap();
        let id = ConversationId::of_state(&longest);
        assert!(id.is_of_state() && !ConversationId::new("x").unwrap().is_of_state());
        assert_eq!(ConversationId::new(id.as_str()), Err(IdError::TooLong(257)));
        assert_eq!(ConversationId::new("\u{1}x"), Err(IdError::ControlCharacter));
        assert_eq!(ConversationId::kept(id.as_str()), Ok(id));
        let some = ConversationId::of_some_state();
        assert_eq!(ConversationId::kept(some.as_str()), Ok(some));
        assert_eq!(ConversationId::kept(""), Err(IdError::Empty));
        assert_eq!(ConversationId::kept("\u{1}\u{1}"), Err(IdError::ControlCharacter));
    }

    #[test]
    fn lineages_and_changes_print_like_a_ulid() {
        assert_eq!(LineageId([0xff; 16]).to_string(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_eq!(ChangeId::default().to_string(), "0".repeat(26));
    }
}
