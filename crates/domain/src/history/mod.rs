//! A history that a caller sends with each request (seed 002): a conversation that lives for one call. Nothing of it is
//! stored, and its messages are chosen as those of a stored one are, by [`context`](crate::context).
//!
//! | module | rule |
//! |---|---|
//! | `conversation` | the messages as utterances of a conversation |
//! | [`alternation`] | user and assistant take turns |
//! | [`recall`] | the messages that a prompt asks for |

pub mod alternation;
mod conversation;
pub mod recall;

pub use conversation::conversation;

use crate::{Draft, Reason, Refusal};

/// A message of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its index in the request, from 0; `None` for the prompt, which comes after the history.
    pub index: Option<usize>,
    /// What was said.
    pub draft: Draft,
}

/// How much of a history can stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages, without the prompt.
    pub messages: usize,
    /// Bytes of everything that is sent.
    pub bytes: usize,
    /// Tokens of everything that is sent; `None` means any number.
    pub tokens: Option<u32>,
}

/// One of the [`Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Of messages.
    Messages,
    /// Of bytes.
    Bytes,
    /// Of tokens.
    Tokens,
}

impl Limit {
    /// The field of a request that sets it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Messages => "max_messages",
            Self::Bytes => "max_bytes",
            Self::Tokens => "token_budget",
        }
    }
}

impl Limits {
    /// The number of a limit; without one of tokens, 0.
    pub fn of(&self, limit: Limit) -> usize {
        match limit {
            Limit::Messages => self.messages,
            Limit::Bytes => self.bytes,
            Limit::Tokens => self.tokens.unwrap_or_default() as usize,
        }
    }
}

/// A message, or a part of one, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its index in the request, from 0.
    pub index: usize,
    /// Why, in machine-readable form.
    pub reason: DropReason,
    /// What is wrong, and what is accepted.
    pub text: String,
}

/// Why a message was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// It is not a message: not a JSON object.
    NotAMessage,
    /// Its role is missing, or unknown.
    UnknownRole,
    /// Its content is neither text nor blocks of text.
    InvalidContent,
    /// It has neither text nor calls.
    Empty,
    /// One of its calls lacks its id or its name, or is of another shape.
    InvalidToolCall,
    /// Another field has a value that is not accepted.
    InvalidField,
    /// It exceeds the maximum size of a message.
    TooLarge,
    /// A result that answers no open call.
    OrphanedResult,
    /// A call without a result.
    UnansweredCall,
    /// It is followed by another message of its role.
    Alternation,
    /// It is older than the messages that are kept.
    MaxMessages,
    /// There is no room for it in bytes.
    MaxBytes,
    /// There is no room for it in tokens.
    TokenBudget,
    /// There is no room for it, and the summary tells of it.
    Summarised,
}

impl From<Limit> for DropReason {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Messages => Self::MaxMessages,
            Limit::Bytes => Self::MaxBytes,
            Limit::Tokens => Self::TokenBudget,
        }
    }
}

impl From<Reason> for DropReason {
    /// The reason for leaving out a refused utterance.
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::UnknownRole => Self::UnknownRole,
            Reason::EmptyUtterance => Self::Empty,
            Reason::ContentTooLarge => Self::TooLarge,
            Reason::NoOpenCall => Self::OrphanedResult,
            _ => Self::InvalidField,
        }
    }
}

impl Dropped {
    /// The message at `index`, which failed its check.
    pub fn refused(index: usize, refusal: &Refusal) -> Self {
        Self { index, reason: refusal.reason().into(), text: refusal.to_string() }
    }
}
