//! Why a command is refused. A refused command changes nothing.

use std::fmt;

use crate::{
    IdError, Reason, Revision, Sequence, compaction, forgetting::Excess, limits::MAX_SHARES, state::StaleName,
};

/// A field of a request and what is wrong with it.
#[derive(Clone, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field, such as `utterances[3].role`.
    pub field: String,
    /// What is wrong, and what is accepted.
    pub description: String,
    /// The size of the field, if that is what is wrong.
    pub size: Option<Size>,
}

/// The size of something that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its bytes.
    pub bytes: usize,
    /// The most that is accepted.
    pub limit: usize,
}

/// What the rules return.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// A refused command. Its message is for the caller and may quote what the caller sent; its `Debug` output is
/// for logs and never does.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field cannot be accepted.
    #[error("{}: {}", .1.field, .1.description)]
    Field(Reason, Violation),
    /// Something named does not exist.
    #[error("there is no {kind} {name:?}{hint}")]
    NotFound {
        /// `conversation` or `utterance`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// What to do instead; starts with a separator, or is empty.
        hint: &'static str,
    },
    /// Something to be created already exists.
    #[error("{kind} {name:?} already exists")]
    Exists {
        /// `conversation` or `utterance`.
        kind: &'static str,
        /// The name given.
        name: String,
    },
    /// The caller expected another revision.
    #[error("{of} is at revision {actual}, not at the expected {expected}: read it again before you retry")]
    StaleRevision {
        /// What the revision belongs to, in words.
        of: &'static str,
        /// The revision the caller expected.
        expected: Revision,
        /// The actual revision.
        actual: Revision,
    },
    /// The caller expected other versions of some state values.
    #[error("{}: read them again before you retry", stale(names))]
    StaleState {
        /// The prefix of the field's path in the request; ends with a dot, or is empty.
        within: &'static str,
        /// The names.
        names: Vec<StaleName>,
    },
    /// The conversation has ended.
    #[error("the conversation {0:?} has ended: the next message to its recipient starts another one")]
    Closed(String),
    /// The request id names an earlier request with another body.
    #[error(
        "request_id {0:?} was used for another request in the last 24 hours: a new request needs a new id"
    )]
    RequestIdReused(String),
    /// The conversation has the maximum number of shares.
    #[error("the conversation {0:?} has {MAX_SHARES} shares: revoke one first, or wait until one expires")]
    TooManyShares(String),
    /// A share's token is not accepted; the error does not say why.
    #[error("token: is not valid; it is wrong, has expired, or was revoked")]
    NoShare,
    /// A fork would split an exchange.
    #[error(
        "at_sequence: is {at}, inside the exchange from {first} to {last}; the nearest accepted {}",
        accepted(first, last)
    )]
    CutsExchange {
        /// The requested point.
        at: Sequence,
        /// The first sequence of the exchange.
        first: Sequence,
        /// The last sequence of the exchange.
        last: Sequence,
    },
    /// A sentence selects more than it is likely to mean.
    #[error("instructions: {0}")]
    TooBroad(Excess),
    /// A compaction cannot be made or undone.
    #[error(transparent)]
    Compaction(#[from] compaction::Unable),
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Violation").field("field", &self.field).finish_non_exhaustive()
    }
}

impl fmt::Debug for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple(self.reason().as_str());
        match self {
            Self::Field(_, violation) => shown.field(&violation.field).finish(),
            Self::StaleRevision { expected, actual, .. } => shown.field(expected).field(actual).finish(),
            _ => shown.finish(),
        }
    }
}

fn stale(names: &[StaleName]) -> String {
    let told = names.iter().map(|StaleName { name, expected, actual }| {
        format!("the state value {name:?} is at version {actual}, not at the expected {expected}")
    });
    told.collect::<Vec<_>>().join("; ")
}

fn accepted(first: &Sequence, last: &Sequence) -> String {
    match first.get() {
        1 => format!("is {last}, after it"),
        first => format!("are {}, before it, and {last}, after it", first - 1),
    }
}

/// The kind named in [`Refusal::NotFound`] and [`Refusal::Exists`].
pub const CONVERSATION: &str = "conversation";
/// The kind named in [`Refusal::NotFound`] and [`Refusal::Exists`].
pub const UTTERANCE: &str = "utterance";
/// The kind named in [`Refusal::NotFound`].
pub const SHARE: &str = "share";
/// The kind named in [`Refusal::NotFound`] for a recipient without one.
pub const ACTIVE_CONVERSATION: &str = "active conversation of the recipient";

impl Refusal {
    /// A refused field, with a specific reason.
    pub fn field(reason: Reason, field: impl Into<String>, description: impl Into<String>) -> Self {
        let violation = Violation { field: field.into(), description: description.into(), size: None };
        Self::Field(reason, violation)
    }

    /// A field of `bytes` that is larger than `limit`.
    pub fn too_large(field: impl Into<String>, bytes: usize, limit: usize) -> Self {
        let text = format!("has {bytes} bytes; accepted: at most {limit}");
        Self::too_large_since(field, Size { bytes, limit }, text)
    }

    /// A field that is too large, in other words than [`Refusal::too_large`] has.
    pub fn too_large_since(field: impl Into<String>, size: Size, description: impl Into<String>) -> Self {
        let violation = Violation { field: field.into(), description: description.into(), size: Some(size) };
        Self::Field(Reason::ContentTooLarge, violation)
    }

    /// A field whose value is not accepted.
    pub fn invalid(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::field(Reason::InvalidField, field, description)
    }

    /// Prefixes the field with the one that contains it: `within` ends with a dot, or is empty.
    pub fn within(mut self, within: &'static str) -> Self {
        match &mut self {
            Self::Field(_, violation) => violation.field.insert_str(0, within),
            Self::StaleState { within: before, .. } => *before = within,
            _ => {}
        }
        self
    }

    /// An invalid identifier.
    pub fn id(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::field(Reason::InvalidId, field, description)
    }

    /// An identifier that failed its check.
    pub fn bad_id(field: impl Into<String>, error: &IdError) -> Self {
        Self::id(field, error.to_string())
    }

    /// A conversation that does not exist.
    pub fn no_conversation(name: impl Into<String>, hint: &'static str) -> Self {
        Self::NotFound { kind: CONVERSATION, name: name.into(), hint }
    }

    /// A recipient without an active conversation.
    pub fn no_active_conversation(recipient: impl Into<String>, hint: &'static str) -> Self {
        Self::NotFound { kind: ACTIVE_CONVERSATION, name: recipient.into(), hint }
    }

    /// An utterance that does not exist.
    pub fn no_utterance(name: impl Into<String>) -> Self {
        Self::NotFound { kind: UTTERANCE, name: name.into(), hint: "" }
    }

    /// A share that does not exist.
    pub fn no_share(id: impl Into<String>) -> Self {
        Self::NotFound { kind: SHARE, name: id.into(), hint: " of the conversation" }
    }

    /// The machine-readable reason.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Field(reason, _) => *reason,
            Self::NotFound { kind, .. } if *kind == UTTERANCE => Reason::UtteranceNotFound,
            Self::NotFound { kind, .. } if *kind == SHARE => Reason::ShareNotFound,
            Self::NotFound { .. } => Reason::ConversationNotFound,
            Self::Exists { kind, .. } if *kind == UTTERANCE => Reason::UtteranceExists,
            Self::Exists { .. } => Reason::ConversationExists,
            Self::StaleRevision { .. } => Reason::StaleRevision,
            Self::StaleState { .. } => Reason::StaleState,
            Self::Closed(_) => Reason::ConversationClosed,
            Self::RequestIdReused(_) => Reason::RequestIdReused,
            Self::TooManyShares(_) => Reason::TooManyShares,
            Self::NoShare => Reason::ShareNotValid,
            Self::CutsExchange { .. } => Reason::CutsExchange,
            Self::TooBroad(_) => Reason::InstructionTooBroad,
            Self::Compaction(unable) => unable.reason(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forgetting::{self, ExcessKind};

    #[test]
    fn what_was_sent_is_told_and_never_debugged() {
        let secret = || "planted".to_owned();
        let excess = Excess { kind: ExcessKind::Half, selected: 3, window: 4, instruction: secret() };
        let misunderstood = forgetting::parse("planted words").unwrap_err();
        let refusals = [
            Refusal::invalid("tool_call_id", secret()),
            Refusal::invalid("instructions", misunderstood.to_string()),
            Refusal::no_utterance(secret()),
            Refusal::Exists { kind: CONVERSATION, name: secret() },
            Refusal::Closed(secret()),
            Refusal::RequestIdReused(secret()),
            Refusal::TooManyShares(secret()),
            Refusal::TooBroad(excess.clone()),
        ];
        for refusal in refusals {
            assert!(refusal.to_string().contains("planted"));
            assert!(!format!("{refusal:?}").contains("planted"), "{refusal:?}");
        }
        assert!(!format!("{misunderstood:?} {excess:?}").contains("planted"));
        assert_eq!(format!("{:?}", Refusal::invalid("role", "is 7")), r#"INVALID_FIELD("role")"#);
    }
}
