//! The engine: loads the data that the rules need, commits their decisions, and publishes the result.
//!
//! # One conversation, one run, one commit in flight
//!
//! A write is put in its conversation's queue. The first writer to find the queue without a run starts one: it
//! takes the waiting writes, decides them in order, hands them to the store as one commit, publishes the new
//! state, notifies watchers and answers the callers, until no writes wait. Writes that arrive while the commit is
//! in flight wait and share the next one. So every decision is based on a committed state, or on the result of
//! the writes before it in the same batch.
//!
//! - A run begins on its caller's thread, and goes on in its own task once it has to wait. Over a store that
//!   answers immediately, no task is needed. A caller that is dropped stops nothing.
//! - A write that needs stored data that the changes of its own batch move waits for the batch's commit.
//! - A failed commit leaves nothing to undo. After a conflict, the state is reloaded and the writes are
//!   decided again. After an error, the writes are answered with it. If the answer was lost, the store is
//!   asked whether it has the commit, by its [`ChangeId`](utterd_domain::ChangeId).
//! - A commit over several conversations (one ends and the next one starts, a fork and its parent, a hard
//!   forget of what forks share) holds them all, taken in key order, and the recipient's own state last;
//!   everything is published before anyone is answered. Runs and holders of a conversation take turns, in the
//!   order in which they asked.
//! - If deciding a write panics, that write fails, and the other writes of its batch are decided again
//!   without it. If the store panics in a commit, the store is asked for the commit as if its answer were
//!   lost.
//! - Only the holder of a conversation replaces the published state. A reader copies a pointer and never waits.
//!
//! | folder | contents |
//! |---|---|
//! | `lane` | one conversation at a time: its queue and the run that decides, commits and publishes; the cache of queues; the right to change it |
//! | `write` | the calls that change conversations: resolving an address, entering the queue, and the verbs |
//! | `read` | the calls that read them, wherever their utterances are stored |
//! | `search` | indexes, ranking, and pages of matches |
//! | `events` | the facts of a change, and the trace |
//! | `models` | models that write summaries, models that embed, and when each is called |
//! | `shared` | reads of a store that other processes change too: when it must be asked, and what its answers mean |
//!
//! Other files: `address`, `applied` (the result of a write, and its answer), `clock` and `time`, `error`,
//! `instance` (the parts and settings of an engine), `meters`, `offload` (long work, off the threads that serve calls),
//! `operation`, `sessions`.

mod address;
mod applied;
mod clock;
mod error;
mod events;
mod instance;
mod lane;
mod meters;
pub mod models;
mod offload;
mod operation;
mod read;
mod search;
mod sessions;
mod shared;
mod time;
mod weighed;
mod write;

pub use address::{Address, Caller};
pub use applied::Applied;
pub use clock::{Clock, SystemClock};
pub use error::{EngineError, Result};
pub use events::cursor::EventCursor;
pub use events::event_rings::Watched;
pub use events::facts::Facts;
pub use events::trace::EventStream;
pub use events::{Event, Subject};
pub use instance::{BackupUnderWay, Counters, Defaults, Engine};
pub use models::embedding::{Embedded, EmbeddingStanding};
pub use models::llm::LlmStanding;
pub use offload::{LONG_TEXT_BYTES, LONG_TOKENS, most_offloaded, offload};
pub use operation::Operation;
pub use read::context::{BuildContextCall, BuildContextReply, Recall};
pub use read::conversations::{ConversationPage, CreateCall, ListConversations};
pub use read::export::Exported;
pub use read::messages::{ListMessages, MessagePage};
pub use read::page::PageRoom;
pub use read::state::StateReply;
pub use read::stats::{StatsCall, StatsReply};
pub use read::utterances::{ListUtterances, Part, UtterancePage};
pub use read::watch::CapacityWatch;
pub use search::found::Found;
pub use search::remember::{Filter, Order, RememberCall, RememberReply, Scope};
pub use write::command::{Call, Command};
pub use write::forget::{ForgetCall, ForgetReply, Selected, ToForget};
pub use write::fork::{ForkCall, ForkReply};
pub use write::import::{ImportCall, ImportReply, Incoming, name};
pub use write::memorize::{MemorizeCall, MemorizeReply};
pub use write::pipeline::MemorizePipeline;
pub use write::recipient::RecipientRemoval;
pub use write::request::Attempt;
pub use write::share::{ShareCall, ShareReply};
pub use write::summarize::{Patience, SummarizeCall, SummarizeReply, SummarizeScope};
pub use write::update::Edit;

/// The order of lists of conversations, and places in them.
pub use utterd_store::{ListOrder, ListedAt};
/// Outcomes, the errors in [`EngineError::Store`] and those of backups, for layers that do not use the store.
pub use utterd_store::{Outcome, Reference, StoreError};
