//! The formats that conversations come in and go out in, and contexts go to models in: pure.
//!
//! | module | what it does |
//! |---|---|
//! | [`message`] | messages one by one, as they came |
//! | [`history`] | makes a caller's history fit for a model (PrepareHistory) |
//! | [`mod@render`] | writes a context as messages for a model, or as text |
//!
//! Each format has a folder: `parse.rs` reads it into [`Parsed`] conversations of
//! [`Draft`](crate::domain::Draft)s, `export.rs` writes a conversation's utterances in it.
//!
//! # What goes in comes out
//!
//! What a format carries and the model does not is kept beside the utterance, in its
//! `extras_json`, under the format's name: `{"openai_chat": …}` (see [`extras`]). Nobody else reads
//! it: in the same format it is rendered back, so that the same JSON comes out; for another format
//! it is a [`Loss`]. An entry of its format, even an empty one, also says that the utterance came in
//! that format as it is: what is irregular about it (an orphaned result, an unanswered call) goes
//! out in the same format only, and is [repaired](repair) for every other.

pub mod anthropic;
mod document;
mod export;
pub mod extras;
mod fields;
pub mod history;
pub mod legacy;
mod loss;
pub mod message;
mod notes;
pub mod openai_chat;
pub mod openai_responses;
mod parsed;
pub mod persisted;
mod place;
mod raw_object;
pub mod render;
pub mod repair;
mod surrogates;
mod time;
mod weight;
mod whole;

pub use document::parse;
pub use export::{export, messages, named};
pub use fields::fit_id;
pub use loss::{Loss, Losses};
pub use notes::{Note, UnknownRoles};
pub use parsed::{Parsed, Source, Sourced};
pub use place::{Place, kind};
pub use render::{Rendered, content_parts, render};
pub use repair::Unanswered;
pub use surrogates::replace_surrogates;
pub use time::write as write_time;
pub use weight::weight;
pub use whole::{Repairs, Whole};

/// A format of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Messages of OpenAI's chat completions: an array, an object with `messages`, or one
    /// conversation or message a line.
    OpenAiChat,
    /// Items of OpenAI's Responses: an array, or an object with `input`, `output`, `items` or `data`.
    OpenAiResponses,
    /// Messages of Anthropic: an array, or an object with `messages` and `system`.
    Anthropic,
    /// `PersistedConversations` of seed 000.
    Persisted,
    /// `HistoryEntry[]` or `PersistedHistory` of seed 000; is only read.
    Legacy,
}

impl Format {
    /// All, in their order.
    pub const ALL: [Self; 5] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Persisted, Self::Legacy];

    /// The format's name: the key of its extras.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Persisted => "persisted_conversations",
            Self::Legacy => "legacy_history",
        }
    }

    /// Whether conversations can be written in it.
    pub fn exports(self) -> bool {
        self != Self::Legacy
    }
}
