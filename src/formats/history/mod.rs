//! PrepareHistory: a history as a caller brought it becomes messages that a model accepts.
//!
//! The steps, each with its rule in [`domain::history`](crate::domain::history): messages are read
//! ([`read`]), calls and results paired, rows of one role repaired, the newest kept within the
//! limits, and what is left is written ([`write`]). Nothing in a history is an error but that it is
//! no JSON array: what cannot be used is left out, and the answer says why.

mod fit;
mod normal;
mod prepare;
pub mod read;
mod write;

pub use prepare::prepare;

use crate::domain::{
    Draft, Refusal, Role,
    call_ids::Rule,
    history::{DropReason, Dropped, Entry, alternation::Alternation, cut::Limits, recall::Recall},
    limits::DEFAULT_MAX_CONTENT_BYTES,
};

/// Messages kept of a history, by default (seed 002, "Safety Limit").
pub const DEFAULT_MAX_MESSAGES: usize = 20;
/// Bytes of what goes out, by default (seed 002, "Request Size").
pub const DEFAULT_MAX_BYTES: usize = 100 << 10;
/// Most messages of a history that comes in.
pub const MAX_MESSAGES_READ: usize = 10_000;

/// The format that messages are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's chat completions.
    #[default]
    OpenAiChat,
    /// Anthropic's messages: system messages stand apart.
    AnthropicMessages,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// How much may go out.
    pub limits: Limits,
    /// What becomes of messages of one role in a row.
    pub alternation: Alternation,
    /// The format to write.
    pub format: Format,
    /// Bytes of one message's text and calls at most; a larger one is left out.
    pub max_content_bytes: usize,
    /// What of the messages that the limits leave out is quoted; none: nothing.
    pub recall: Option<Recall>,
}

impl Default for Request {
    fn default() -> Self {
        let limits = Limits { messages: DEFAULT_MAX_MESSAGES, bytes: DEFAULT_MAX_BYTES, tokens: None };
        Self {
            limits,
            alternation: Alternation::Merge,
            format: Format::OpenAiChat,
            max_content_bytes: DEFAULT_MAX_CONTENT_BYTES,
            recall: None,
        }
    }
}

/// A history as it came in: what could be read of it, and what could not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incoming {
    /// The field of the request that it came in.
    pub field: &'static str,
    /// What was read.
    pub entries: Vec<Entry>,
    /// What was not.
    pub dropped: Vec<Dropped>,
    /// What was read in part.
    pub warnings: Vec<Warning>,
    /// How many messages came.
    pub count: usize,
    /// Bytes of what came.
    pub bytes: usize,
}

/// Something that the caller should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, for machines.
    pub kind: WarningKind,
    /// What it is.
    pub text: String,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// Three quarters of the messages that may be kept, or more (seed 002: from 15 of 20).
    ManyMessages,
    /// Three quarters of the bytes, or more.
    LargeRequest,
    /// Three quarters of the token budget, or more.
    NearTokenBudget,
    /// Parts of a message that are no text were left out.
    PartsLeftOut,
    /// Results were moved behind their calls.
    ResultsMoved,
    /// Messages of one role in a row became one.
    MessagesMerged,
    /// Ids of calls were changed to what the format accepts.
    CallIdsChanged,
    /// The format wants a user's message first, so a marked one was put there.
    PlaceholderAdded,
}

/// What goes to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// A JSON array of messages.
    pub messages_json: String,
    /// The text of the system messages, in a format that has them apart; empty where there is none.
    pub system: String,
    /// Messages of the array.
    pub message_count: usize,
    /// What the messages, and the system text, would count as utterances; see
    /// [`Draft::tokens`].
    pub token_count: u32,
    /// What was left out, in the order of the request.
    pub dropped: Vec<Dropped>,
    /// The places of messages that were left out and are quoted, ascending.
    pub recalled: Vec<usize>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

impl Format {
    fn call_ids(self) -> Rule {
        match self {
            Self::OpenAiChat => Rule::ANY,
            Self::AnthropicMessages => Rule::ANTHROPIC,
        }
    }

    /// Whether system messages stand apart from the others.
    fn system_apart(self) -> bool {
        self == Self::AnthropicMessages
    }
}

impl Incoming {
    /// A history of so many messages and bytes, in a field of the request.
    pub fn of(field: &'static str, count: usize, bytes: usize) -> Self {
        Self { field, count, bytes, ..Self::default() }
    }

    /// Adds what was made of the message at `index`.
    pub fn add(&mut self, index: usize, read: Result<Draft, Refusal>) {
        match read {
            Ok(draft) => self.entries.push(Entry { index: Some(index), draft }),
            Err(refusal) => self.dropped.push(Dropped::refused(index, &refusal)),
        }
    }

    fn drop(&mut self, index: usize, reason: DropReason, text: impl Into<String>) {
        self.dropped.push(Dropped { index, reason, text: text.into() });
    }
}

/// The prompt as a message of the user.
pub fn prompt(text: &str) -> Draft {
    said(Role::User, text)
}

fn said(role: Role, text: &str) -> Draft {
    Draft { id: None, role, content: text.into(), turn: None, create_time: None, pinned: false, more: None }
}

#[cfg(test)]
mod recall_tests;
#[cfg(test)]
mod tests;
