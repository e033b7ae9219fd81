//! What happens to a chat, and what it asks for.

use std::{ops::RangeInclusive, path::PathBuf};

use crossterm::event::KeyEvent;

use crate::proto::{Capacity, CompactionAnswer, Role, ToolCall, Utterance};

/// What happened: at the keyboard, at the server or at the model.
#[derive(Debug)]
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Pasted(String),
    /// The terminal now has this many columns and rows.
    Resized(u16, u16),
    /// No server answers; the call is retried.
    Unreachable,
    /// A draft is stored.
    Stored(Box<Stored>),
    /// A draft could not be stored, and why.
    NotStored(Draft, String),
    /// A piece of the model's reply arrived.
    Piece(String),
    /// The model's reply is complete.
    Reply(Reply),
    /// The model did not reply, and why.
    NoReply(String),
    /// The window as the server has it now.
    Refreshed(Window),
    /// The window could not be read, and why.
    NotRefreshed(String),
    /// The server did what was asked.
    Done(Done),
    /// The server or the disk refused what was asked, and why.
    Refused(String),
    /// Another conversation was started.
    Started(Box<Opening>),
}

/// A draft that became an utterance.
#[derive(Debug)]
pub struct Stored {
    /// The utterance.
    pub utterance: Utterance,
    /// The sequences that left the window for it.
    pub evicted: Vec<i64>,
    /// How full the window is now.
    pub capacity: Capacity,
    /// Whether the server no longer had the conversation, which starts again with this utterance.
    pub started_anew: bool,
}

/// What a model replied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// The tools that it calls.
    pub calls: Vec<ToolCall>,
}

/// The result of a command.
#[derive(Debug, Default)]
pub struct Done {
    /// The text to show.
    pub note: Option<String>,
    /// The window, if it might have changed.
    pub window: Option<Window>,
    /// The sequences that were forgotten.
    pub forgotten: Vec<i64>,
}

/// The window as the server has it.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Its newest utterances, the oldest first.
    pub utterances: Vec<Utterance>,
    /// How full it is.
    pub capacity: Capacity,
    /// Whether it is lost when the server ends.
    pub in_memory: bool,
}

/// A conversation as a chat opens it.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The conversation.
    pub conversation_id: String,
    /// Its window.
    pub window: Window,
    /// The text to show about it.
    pub note: String,
}

/// The key in the metadata of a reply that was broken off.
pub const BROKEN_OFF: &str = "broken_off";

/// A message to be memorized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The speaker.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// The tools that are called.
    pub calls: Vec<ToolCall>,
    /// Whether it is a reply that was broken off.
    pub broken_off: bool,
    /// The number of the attempt to store it: with the same number, it is stored only once.
    pub attempt: u64,
}

/// Something that a chat asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Store a draft.
    Memorize(Draft),
    /// Ask the model for a reply.
    Ask,
    /// Stop the reply in progress.
    Stop,
    /// Redraw the whole screen.
    Redraw,
    /// Read the window again.
    Refresh,
    /// Ask something else of the server.
    Do(Task),
    /// Leave.
    Quit,
}

/// What commands and answers ask of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Answer the advice to compact.
    Answer(CompactionAnswer),
    /// Compact, or show what would be compacted.
    Compact {
        /// How many utterances stay.
        keep: Option<i32>,
        /// Only show it.
        dry_run: bool,
    },
    /// Undo the last compaction.
    Undo,
    /// Write the conversation to a file.
    Export {
        /// With the archive.
        full: bool,
        /// The file; by default one named after the conversation.
        file: Option<PathBuf>,
    },
    /// Forget what instructions select.
    Forget {
        /// The instructions.
        instructions: String,
        /// For good.
        hard: bool,
    },
    /// Bring back what was forgotten, by sequence.
    Restore(Vec<RangeInclusive<i64>>),
    /// Find utterances by a prompt.
    Remember(String),
    /// Show how full the window is.
    Capacity,
    /// Show the summary.
    Summary,
    /// End the conversation and start another.
    Start,
}
