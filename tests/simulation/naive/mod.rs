//! The naive world: the design in the simplest terms, recomputed each time from a list of everything that was
//! ever said. It shares the types of calls with the server, and none of its rules.

mod command;
mod compacting;
mod conversation;
mod editing;
mod forgetting;
mod forking;
mod memorize;
mod numbers;
mod own;
mod parting;
mod policy;
mod reading;
mod state;
mod upsert;
mod world;

pub use command::{Command, Doing, Edit, Fork, Memorize};
pub use conversation::{Conversation, Home, Said};
pub use forgetting::{Criterion, Selection, Take};
pub use world::World;

/// Why a call is refused: the reason of its ErrorInfo.
pub type Reason = &'static str;

/// What a call did to a conversation. Utterances are named by their sequences, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The id of the conversation.
    pub id: String,
    /// The revision after the call.
    pub revision: u64,
    /// Whether anything changed.
    pub changed: bool,
    /// Whether the call started the conversation.
    pub started: bool,
    pub memorized: Vec<u64>,
    pub evicted: Vec<u64>,
    pub dropped: Vec<u64>,
    pub forgotten: Vec<u64>,
    pub erased: Vec<u64>,
    pub restored: Vec<u64>,
    /// What an undone compaction returned.
    pub returned: Vec<u64>,
    pub updated: Vec<u64>,
    /// The number of the compaction that it made or undid.
    pub compaction: Option<u32>,
    /// The utterance that the call named.
    pub target: Option<u64>,
    /// Everything that was erased.
    pub gone: Vec<u64>,
    /// What other conversations that share it lost.
    pub reached: Vec<Facts>,
    /// The conversation that was forked.
    pub parent: Option<String>,
    /// The conversation that ended for this one to start.
    pub ended: Option<String>,
}
