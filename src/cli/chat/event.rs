//! What happens to a chat, and what it wants done.

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
    /// The terminal has so many columns and rows now.
    Resized(u16, u16),
    /// No server answers; what was asked of it is tried again.
    Unreachable,
    /// A draft is stored.
    Stored(Box<Stored>),
    /// A draft could not be stored, and why.
    NotStored(Draft, String),
    /// The model said a piece of its reply.
    Piece(String),
    /// The model's reply is whole.
    Reply(Reply),
    /// The model did not reply, and why.
    NoReply(String),
    /// The window as the server has it now.
    Refreshed(Window),
    /// The window could not be read, and why.
    NotRefreshed(String),
    /// What was asked of the server is done.
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
    /// Whether the server did not have the conversation any more, and it starts anew with this.
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

/// What came of a command.
#[derive(Debug, Default)]
pub struct Done {
    /// What to tell.
    pub note: Option<String>,
    /// The window, when it may have changed.
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
    /// Whether it is gone when the server ends.
    pub in_memory: bool,
}

/// A conversation as it is when a chat goes on with it.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The conversation.
    pub conversation_id: String,
    /// Its window.
    pub window: Window,
    /// What to tell about it.
    pub note: String,
}

/// The key in the metadata of a reply that was broken off.
pub const BROKEN_OFF: &str = "broken_off";

/// What is to be memorized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// The tools that are called.
    pub calls: Vec<ToolCall>,
    /// Whether it is a reply that was broken off.
    pub broken_off: bool,
    /// Names the attempt to store it: tried again, it is stored once.
    pub attempt: u64,
}

/// What a chat wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Store a draft.
    Memorize(Draft),
    /// Ask the model for a reply.
    Ask,
    /// Stop the reply that is being made.
    Stop,
    /// Draw the screen again, all of it.
    Redraw,
    /// Read the window again.
    Refresh,
    /// Ask something else of the server.
    Do(Task),
    /// Leave.
    Quit,
}

/// What the server is asked for by commands and answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Answer the advice to compact.
    Answer(CompactionAnswer),
    /// Compact, or show what would be compacted.
    Compact {
        /// How many utterances stay.
        keep: Option<i32>,
        /// Only show it.
        preview: bool,
    },
    /// Take the last compaction back.
    Undo,
    /// Write the conversation to a file.
    Export {
        /// With the archive.
        full: bool,
        /// Where to; by default a file called after the conversation.
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
    /// Tell how full the window is.
    Capacity,
    /// Tell the summary.
    Summary,
    /// End the conversation and start another.
    Start,
}
