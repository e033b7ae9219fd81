//! A history that a caller sends with each request (seed 002), and the rules that make it fit for a model.
//! Nothing of it is stored.
//!
//! | module | rule |
//! |---|---|
//! | [`alternation`] | user and assistant take turns |
//! | [`cut`] | the newest units that fit the limits stay, with the instructions and the prompt |
//! | [`recall`] | the messages of the rest that a prompt asks for, as one marked message |
//! | [`shorten`] | a newest message that exceeds the limits by itself is cut to its head and tail |
//!
//! Which result answers which call, and which call ids, names and arguments a provider accepts, are rules
//! that stored conversations have too: [`exchange`](crate::exchange),
//! [`call_ids`](crate::exchange::call_ids), [`context::wording`](crate::context::wording).

pub mod alternation;
mod cost;
pub mod cut;
pub mod recall;
pub mod shorten;
#[cfg(test)]
mod test_units;

use crate::{
    Draft, Reason, Refusal, Role,
    history::cost::{Cost, Limit},
};

/// A message of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its index in the request, from 0; `None` for the prompt, which comes after the history.
    pub index: Option<usize>,
    /// What was said.
    pub draft: Draft,
}

/// A message and the results of its calls, which leave a history together.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The message.
    pub message: Entry,
    /// The results of its calls, one for each.
    pub results: Vec<Entry>,
    /// The most that all of them cost.
    pub cost: Cost,
}

impl Unit {
    /// The message and the results, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        std::iter::once(&self.message).chain(&self.results)
    }

    /// The role of the message.
    pub fn role(&self) -> Role {
        self.message.draft.role
    }

    /// Whether it is the user's new message.
    pub fn is_prompt(&self) -> bool {
        self.message.index.is_none()
    }
}

/// The messages that are recalled from a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The message that quotes it; it has no index in the request.
    pub message: Entry,
    /// The indexes of the quoted messages in the request, ascending.
    pub places: Vec<usize>,
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
