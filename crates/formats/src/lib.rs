//! The formats for importing and exporting conversations, and for sending contexts to models. Pure.
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | single messages, verbatim |
//! | [`history`] | makes a caller's history fit for a model (PrepareHistory) |
//! | `programs` | reads what ChatGPT, Claude, Claude Code, Codex and pi keep |
//! | [`mod@render`] | writes a context as messages for a model, or as text |
//!
//! Each format has a file or a folder, which reads it into [`Parsed`] conversations of [`Draft`](utterd_domain::Draft)s
//! and writes a conversation's utterances in it. That of a provider also tells what its API refuses, and how an utterance
//! is written (`provider.rs`), be it for an export, a context, a history or alone. `texts.rs` reads the words of any part,
//! and `sent.rs` decides what of a message goes to a model.
//!
//! # Round trips
//!
//! Data that a format carries and the model does not is kept with the utterance, in its `extras_json`, under
//! the format's name: `{"openai_chat": …}` (see [`extras`]). Nothing else reads it. An export in the same
//! format restores it, so the same JSON comes out; for another format it is a [`Loss`]. An entry of a format,
//! even an empty one, also means that the utterance came in that format as it is: irregularities (an orphaned
//! result, an unanswered call) go out only in the same format, and are [repaired](repair) for every other.

pub mod anthropic;
mod document;
mod export;
pub mod extras;
mod fields;
pub mod history;
pub mod legacy;
#[cfg(test)]
mod linear_tests;
pub mod message;
pub mod openai_chat;
pub mod openai_responses;
mod parsed;
pub mod persisted;
mod place;
mod programs;
mod provider;
mod providers;
mod raw_object;
pub mod render;
pub mod repair;
mod sent;
mod surrogates;
mod texts;
mod time;
mod values;
mod vision;
mod weight;
mod whole;

pub use document::parse;
pub use export::{chat_messages, export, messages, named};
pub use fields::fit_id;
pub use parsed::{Parsed, Source, Sourced};
pub use place::{Note, Place, UnknownRoles, kind};
pub use programs::{Condenser, complete, session, settled};
pub use render::{Rendered, render};
pub use repair::Unanswered;
pub use sent::{content, picture_tokens};
pub use surrogates::replace_surrogates;
pub use time::{moment, write as write_time};
pub use weight::weight;
pub use whole::{Loss, Losses, Repairs, Whole};

/// A format of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's chat completion messages: an array, an object with `messages`, or one conversation or message
    /// per line.
    OpenAiChat,
    /// OpenAI's Responses items: an array, or an object with `input`, `output`, `items` or `data`.
    OpenAiResponses,
    /// Anthropic's messages: an array, or an object with `messages` and `system`.
    Anthropic,
    /// `PersistedConversations` of seed 000.
    Persisted,
    /// `HistoryEntry[]` or `PersistedHistory` of seed 000; read-only.
    Legacy,
    /// The export of ChatGPT, `conversations.json`; read-only.
    ChatGpt,
    /// The export of Claude, `conversations.json`; read-only.
    Claude,
    /// Sessions of Claude Code, a line per event; read-only.
    ClaudeCode,
    /// Sessions of Codex, a line per event; read-only.
    Codex,
    /// Sessions of pi, a line per entry; read-only.
    Pi,
}

impl Format {
    /// All formats, in order.
    pub const ALL: [Self; 10] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Persisted,
        Self::Legacy,
        Self::ChatGpt,
        Self::Claude,
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
    ];

    /// The format's name: the key of its extras.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Persisted => "persisted_conversations",
            Self::Legacy => "legacy_history",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::ClaudeCode => "claude_code",
            Self::Codex => "codex",
            Self::Pi => "pi",
        }
    }

    /// Whether conversations can be written in this format.
    pub fn exports(self) -> bool {
        matches!(self, Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic | Self::Persisted)
    }

    /// Whether single messages can be read and written in this format, as models' APIs do.
    pub fn has_messages(self) -> bool {
        matches!(self, Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic)
    }

    /// Whether its files are sessions that a program writes line by line, while they go on.
    pub fn is_session(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::Pi)
    }
}
