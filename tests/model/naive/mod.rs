//! The naive model: the design in the simplest terms, recomputed each time from a list of everything that was
//! ever said.

mod call;
mod compacting;
mod conversation;
mod forgetting;
mod forking;
mod memorize;
mod messages;
mod numbers;
mod own;
mod parting;
mod policy;
mod reading;
mod state;
mod upsert;
mod world;

pub use call::Call;
use conversation::Home;
pub use conversation::{Conversation, Said};
pub use forgetting::{Criterion, Selection, Take, holds_word};
pub use memorize::{check, cost};
pub use messages::says;
pub use policy::Policy;
pub use reading::time;
pub use world::{Earlier, Expected, World};

/// Why a call is refused: the reason of its ErrorInfo.
pub type Reason = &'static str;

/// What a call did to a conversation. Utterances are named by their sequences, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Distinguishes conversations with one id: each that starts gets the next number.
    pub birth: usize,
    /// The revision after the call.
    pub revision: i64,
    /// Whether anything changed.
    pub changed: bool,
    /// Whether the call started the conversation.
    pub started: bool,
    pub memorized: Vec<i64>,
    pub evicted: Vec<i64>,
    pub dropped: Vec<i64>,
    pub forgotten: Vec<i64>,
    pub erased: Vec<i64>,
    pub restored: Vec<i64>,
    /// What an undone compaction returned.
    pub returned: Vec<i64>,
    pub updated: Vec<i64>,
    /// How many state values it set.
    pub kept: usize,
    /// The revision of the recipient's own state, if it changed.
    pub own: Option<i64>,
    /// How many exchanges lost a part.
    pub parted: usize,
    /// Places in the request of utterances that replaced one by id.
    pub instead: Vec<usize>,
    /// The number of the compaction that it made or undid.
    pub compaction: Option<i32>,
    /// How many of the memorized utterances are late results.
    pub late: usize,
    /// Places in the request, and sequences, of what a lenient call accepted.
    pub irregular: Vec<(i32, i64)>,
    /// The utterance that the call named.
    pub target: Option<i64>,
    /// Everything that was erased.
    pub gone: Vec<i64>,
    /// What other conversations that share it lost.
    pub reached: Vec<(usize, Facts)>,
    /// The birth of the conversation that was forked.
    pub parent: Option<usize>,
    /// The birth of the conversation that ended for this one to start.
    pub ended: Option<usize>,
    /// Utterances that were removed with their conversation.
    pub removed: Option<i32>,
}
