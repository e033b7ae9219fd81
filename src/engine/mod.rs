//! The engine: loads what the rules need, commits what they decide, publishes it.
//!
//! # One conversation, one queue, one commit in flight
//!
//! A write is put in its conversation's queue. The first writer to find the queue free holds and drives it: it
//! takes the waiting writes, decides them in order, hands them to the store as one commit, publishes the new
//! state, notifies watchers and answers the callers. Writes that arrive while the commit is in flight wait and
//! share the next one. So every decision is based on a committed state, or on the result of the writes before
//! it in the same batch.
//!
//! - A caller drives the queue on its own thread, and stops once it has its own answer: a task takes over. Over
//!   a store that answers immediately, no task is ever needed.
//! - A caller that is dropped hands the queue and the commit in flight to a task. The write it was waiting for
//!   may not happen if it was not yet part of that commit.
//! - A write that needs what its own batch has moved in the store waits for the batch's commit.
//! - A failed commit leaves nothing to undo. After a conflict, the state is reloaded and the writes are decided
//!   again; after an error, they are answered with it; if the answer was lost, the store is asked for the
//!   commit by its [`ChangeId`](crate::domain::ChangeId).
//! - A commit over several conversations (one ends and the next one starts, a fork and its parent, a hard
//!   forget of what forks share) holds their queues, taken in key order, and the queue of the recipient's own
//!   state last; everything is published before anyone is answered.
//! - If deciding a write panics, that write fails, and what was decided with it is decided again without it. If the store
//!   panics in a commit, the store is asked for the commit as if its answer were lost.
//! - Only the holder of the queue replaces the published state. A reader copies a pointer and never waits.
//!
//! | file | contents |
//! |---|---|
//! | `queue`, `queues` | a conversation in memory; the cache of them |
//! | `queued` | a waiting write, and the future its caller waits on |
//! | `write` | resolving an address, and entering the queue |
//! | `known`, `last_active` | caches that save reads when an address is resolved |
//! | `confirmed` | when the store was last asked for what is in memory |
//! | `hold` | the right to change a conversation |
//! | `drive`, `batch`, `beside` | the loop; the writes of one commit; the recipient's state that goes with it |
//! | `decide` | asking the rules |
//! | `offload` | long work, off the threads that serve calls |
//! | `facts`, `references`, `applied` | the facts of a change; the utterances an outcome names; the result of a write, and its answer |
//! | `commit` | handing a commit to the store, publishing it, handling failures |
//! | `attended` | work that continues after its caller is dropped |
//! | `clock`, `time` | the source of time; clocks that are set back |

mod address;
mod applied;
mod attended;
mod background;
mod batch;
mod beside;
mod breaker;
mod clock;
mod command;
mod commit;
mod compact;
mod confirmed;
mod context;
mod conversations;
mod cursor;
mod decide;
mod drive;
pub mod embedding;
mod end;
mod erase;
mod error;
mod event_log;
mod event_rings;
mod events;
mod export;
mod facts;
mod footprint;
mod forget;
mod fork;
mod found;
mod hints;
mod hold;
mod hybrid;
mod import;
mod index;
mod indexing;
mod instance;
mod known;
mod last_active;
pub mod llm;
mod memorize;
mod messages;
mod meters;
mod offload;
mod operation;
mod page;
mod pipeline;
mod pointers;
mod queue;
mod queued;
mod queues;
mod ranked;
mod reach;
mod read;
mod recalled;
mod recipient;
mod references;
mod remember;
mod remove;
mod request;
mod retention;
mod searched;
mod sessions;
mod share;
mod state;
mod stats;
mod stored;
mod summarize;
mod time;
mod trace;
mod traced;
mod turns;
mod update;
mod utterances;
mod walk;
mod watch;
mod watches;
mod write;

pub use address::{Address, Caller};
pub use applied::Applied;
pub use clock::{Clock, SystemClock};
pub use command::{Call, Command};
pub use context::{BuildContextCall, BuildContextReply, Recall};
pub use conversations::{ConversationPage, ConversationReply, CreateCall, ListConversations};
pub use cursor::EventCursor;
pub use embedding::{Embedded, EmbeddingStanding};
pub use error::EngineError;
pub use event_rings::Watched;
pub use events::{Event, Subject};
pub use export::Exported;
pub use facts::{Effects, Facts};
pub use forget::{ForgetCall, ForgetReply, Selected, ToForget};
pub use fork::{ForkCall, ForkReply};
pub use found::Found;
pub use import::{ImportCall, ImportReply, Incoming, name};
pub use instance::{Counters, Defaults, Engine};
pub use llm::{LlmStanding, Waited};
pub use memorize::{MemorizeCall, MemorizeReply};
pub use messages::{ListMessages, MessagePage};
pub use offload::{LONG_TEXT_BYTES, LONG_TOKENS, most_offloaded, offload};
pub use operation::Operation;
pub use page::PageRoom;
pub use pipeline::MemorizePipeline;
pub use recipient::RecipientRemoval;
pub use remember::{Filter, Order, RememberCall, RememberReply, Scope};
pub use request::Attempt;
pub use share::{ShareCall, ShareReply};
pub use state::StateReply;
pub use stats::{StatsCall, StatsReply};
pub use summarize::{Patience, SummarizeCall, SummarizeReply, SummarizeScope};
pub use trace::EventStream;
pub use update::Edit;
pub use utterances::{ListUtterances, Part, UtterancePage};
pub use watch::CapacityWatch;

/// Outcomes, the errors in [`EngineError::Store`] and those of backups, for layers that do not use the store.
pub use crate::store::{BackupRefused, Outcome, Reference, StoreError};
/// The order of lists of conversations, and places in them.
pub use crate::store::{ListOrder, ListedAt};
