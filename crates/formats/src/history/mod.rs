//! PrepareHistory: turns a caller's history into messages that a model accepts.
//!
//! The steps: messages are read ([`read`]), and those that cannot go to a model are left out (`normal`); calls
//! and results are paired, and what is left over is reported (`pairs`); the messages are a conversation for the time of
//! one call, of which a context is built and written within the limits (`fit`). A
//! history is only refused if it is not a JSON array: unusable messages are left out, and the response says
//! why.

mod finish;
mod fit;
mod normal;
mod pairs;
mod prepare;
pub mod read;
mod summary;

pub use prepare::prepare;
pub use utterd_domain::context::{Format, SummaryPlacement};

use utterd_domain::{
    Draft, More, Result, Role,
    history::{Dropped, Entry, Limits, alternation::Alternation, recall::Recall},
    limits::MOST_CONTENT_BYTES,
};

/// How many messages of a history are kept by default (seed 002, "Safety Limit").
pub const DEFAULT_MAX_MESSAGES: usize = 20;
/// How many bytes go out by default (seed 002, "Request Size").
pub const DEFAULT_MAX_BYTES: usize = 100 << 10;
/// The maximum number of messages in an incoming history.
pub const MAX_MESSAGES_READ: usize = 10_000;

/// What the caller asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// How much can go out.
    pub limits: Limits,
    /// What happens to consecutive messages of one role.
    pub alternation: Alternation,
    /// The format to write; [`Format::Text`] is OpenAI's chat.
    pub format: Format,
    /// Maximum size of one message's text and calls, in bytes; larger messages are left out.
    pub max_content_bytes: usize,
    /// How to quote the messages that the limits leave out; `None` quotes nothing.
    pub recall: Option<Recall>,
    /// How to summarise the messages that the limits leave out; `None` leaves them out untold.
    pub summary: Option<Compaction>,
    /// Whether only tool results are cut: a prompt that exceeds a limit by itself is refused.
    pub whole_messages: bool,
}

/// How to summarise what does not fit.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// The most tokens of the summary.
    pub token_limit: u32,
    /// Where it is placed.
    pub placement: SummaryPlacement,
    /// If something does not fit, everything but at least this many of the newest messages is summarised; `None` means
    /// only what does not fit.
    pub keep_recent: Option<u32>,
    /// Words that make a sentence more important.
    pub focus: Vec<String>,
}

impl Default for Request {
    fn default() -> Self {
        let limits = Limits { messages: DEFAULT_MAX_MESSAGES, bytes: DEFAULT_MAX_BYTES, tokens: None };
        Self {
            limits,
            alternation: Alternation::Merge,
            format: Format::OpenAiChat,
            max_content_bytes: MOST_CONTENT_BYTES,
            recall: None,
            summary: None,
            whole_messages: false,
        }
    }
}

/// An incoming history: what could be read of it, and what could not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incoming {
    /// The field of the request that it came in.
    pub field: &'static str,
    /// The messages that were read.
    pub entries: Vec<Entry>,
    /// The messages that could not be read.
    pub dropped: Vec<Dropped>,
    /// The messages that were read only in part.
    pub warnings: Vec<Warning>,
    /// The number of incoming messages.
    pub count: usize,
    /// The size of the incoming messages in bytes.
    pub bytes: usize,
}

/// Something the caller should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The kind of warning, for machines.
    pub kind: WarningKind,
    /// The warning in words.
    pub text: String,
}

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// At least three quarters of the messages that can be kept (seed 002: from 15 of 20).
    ManyMessages,
    /// At least three quarters of the byte limit.
    LargeRequest,
    /// At least three quarters of the token budget.
    NearTokenBudget,
    /// Parts of a message that are not text were left out.
    PartsLeftOut,
    /// Results were moved directly behind their calls.
    ResultsMoved,
    /// Consecutive messages of one role were merged.
    MessagesMerged,
    /// Call ids were changed to ones that the format accepts.
    CallIdsChanged,
    /// A model expects a user message first, so a marked one was inserted.
    PlaceholderAdded,
    /// Messages were cut to their head and tail.
    MessagesTrimmed,
}

/// What goes to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// A JSON array of messages.
    pub messages_json: String,
    /// The text of the system messages, in a format that separates them; otherwise empty.
    pub system: String,
    /// The number of messages in the array.
    pub message_count: usize,
    /// The token count of the messages and the system text, as in a context.
    pub token_count: u32,
    /// The token count of the history and the prompt, before anything was left out.
    pub history_token_count: u64,
    /// The lines of the summary; empty if there is none.
    pub summary: String,
    /// The messages left out, in the order of the request.
    pub dropped: Vec<Dropped>,
    /// The places of messages that were left out and are quoted, ascending.
    pub recalled: Vec<usize>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

impl Request {
    /// Whether system messages are separate from the others.
    fn system_apart(&self) -> bool {
        self.format == Format::AnthropicMessages
    }
}

impl Incoming {
    /// An empty history of a field of the request that has `count` messages and `bytes` bytes.
    pub fn of(field: &'static str, count: usize, bytes: usize) -> Self {
        Self { field, count, bytes, ..Self::default() }
    }

    /// Adds the result of reading the message at `index`.
    pub fn add(&mut self, index: usize, read: Result<Draft>) {
        match read {
            Ok(draft) => self.entries.push(Entry { index: Some(index), draft }),
            Err(refusal) => self.dropped.push(Dropped::refused(index, &refusal)),
        }
    }
}

/// The prompt as a user message.
pub fn prompt(text: &str) -> Draft {
    Draft::of(Role::User, text, More::default())
}

#[cfg(test)]
mod recall_tests;
#[cfg(test)]
mod tests;
