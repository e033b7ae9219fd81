//! A history that a caller brings along with each request (seed 002): the rules by which it is made
//! fit for a model. Nothing of it is stored.
//!
//! | module | rule |
//! |---|---|
//! | [`pairing`] | every call has its result directly behind it, every result its call |
//! | [`alternation`] | user and assistant take turns |
//! | [`cut`] | the newest units that fit the limits stay, beside the instructions and the prompt |
//! | [`recall`] | what a prompt asks for of the rest, as one marked message |
//! | [`call_ids`] | ids of calls that a provider accepts |

pub mod alternation;
pub mod call_ids;
pub mod cut;
pub mod pairing;
pub mod recall;
#[cfg(test)]
mod test_entries;

use crate::domain::{Draft, Reason, Refusal, Role};

/// A message of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place in the request, from 0; none for the prompt, which stands behind the history.
    pub index: Option<usize>,
    /// What was said.
    pub draft: Draft,
}

/// What leaves a history together: a message and the results of its calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The message.
    pub message: Entry,
    /// What answers its calls: a result for each.
    pub results: Vec<Entry>,
}

impl Unit {
    /// The message and the results, in their order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        std::iter::once(&self.message).chain(&self.results)
    }

    /// The same, for good.
    pub fn into_entries(self) -> impl Iterator<Item = Entry> {
        std::iter::once(self.message).chain(self.results)
    }

    /// Who speaks first in it.
    pub fn role(&self) -> Role {
        self.message.draft.role
    }
}

/// What is recalled of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// The message that quotes it; it has no place in the request.
    pub message: Unit,
    /// The places of what it quotes, in the request, ascending.
    pub places: Vec<usize>,
}

/// A message, or a part of one, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its place in the request, from 0.
    pub index: usize,
    /// Why, for machines.
    pub reason: DropReason,
    /// What is wrong, and what is accepted; a text of these rules goes behind the message's place.
    pub text: String,
}

/// Why a message was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// It is no message: no JSON object.
    NotAMessage,
    /// Its role is none, or unknown.
    UnknownRole,
    /// Its content is neither text nor blocks of text.
    InvalidContent,
    /// It says nothing and calls nothing.
    Empty,
    /// One of its calls lacks its id or its name, or is of another shape.
    InvalidToolCall,
    /// Another field has a value that is not accepted.
    InvalidField,
    /// It is larger than a message may be.
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

impl From<Reason> for DropReason {
    /// What a refused utterance is left out for.
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
    /// The message at `index`, which its check refused.
    pub fn refused(index: usize, refusal: &Refusal) -> Self {
        Self { index, reason: refusal.reason().into(), text: refusal.to_string() }
    }
}
