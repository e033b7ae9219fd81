//! The engine: loads what the rules need, commits what they decide, publishes it.
//!
//! # One conversation, one queue, one commit in flight
//!
//! A write is put in its conversation's queue. Whoever finds the queue free holds it, and drives it: takes
//! what waits, decides it in its order, hands it to the store as one commit, and publishes, tells and answers
//! what that came to. Whatever comes while the commit is out waits, and goes into the next one together. So a
//! decision is made on a committed state, or on what the writes before it in the same batch make of one.
//!
//! - Who drives does so on its own thread, and for others only until its own answer is there: a task drives
//!   on. Over a store that answers at once nothing is handed to a task.
//! - A caller that goes away leaves the queue to a task, with the commit that is out.
//!   What it waited for behind that may be left undone.
//! - A write that needs what its own batch has moved in the store waits for the batch's commit.
//! - A commit that fails leaves nothing to take back. After a conflict the state is loaded and its writes are
//!   decided again; after an error they are answered with that; when the answer is lost, the store is asked
//!   for the commit by its [`ChangeId`](crate::domain::ChangeId).
//! - A commit over several conversations (one ends and the next one starts, a fork and its parent, a hard
//!   forget of what forks share) holds their queues, taken in the order of their keys, and last that of the
//!   recipient's own state; all is published before anyone is answered.
//! - Only who holds the queue replaces what is published. A reader copies a pointer, and never waits.
//!
//! | file | what is there |
//! |---|---|
//! | `queue`, `queues` | a conversation in memory; the cache of them |
//! | `queued` | a write that waits, and what its caller waits for |
//! | `write` | what an address means, and the way into the queue |
//! | `known`, `last_active` | what need not be read once more for that |
//! | `hold` | the right to change a conversation |
//! | `drive`, `batch`, `beside` | the loop; the writes of one commit; the recipient's state that goes with it |
//! | `decide` | asking the rules |
//! | `facts`, `applied` | the one reading of a change; what a write comes to, and its answer |
//! | `commit` | handing over, publishing, and what failures come to |
//! | `attended` | work that goes on when its caller goes away |
//! | `clock`, `time` | where the time comes from; what is made of a clock that is set back |

mod address;
mod applied;
mod aside;
mod attended;
mod background;
mod batch;
mod beside;
mod breaker;
mod clock;
mod commit;
mod compact;
mod context;
mod conversations;
mod decide;
mod drive;
pub mod embedding;
mod end;
mod erase;
mod error;
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
mod page;
mod pipeline;
mod pointers;
mod queue;
mod queued;
mod queues;
mod reach;
mod read;
mod recalled;
mod recipient;
mod remember;
mod remove;
mod request;
mod restore;
mod retention;
mod sessions;
mod share;
mod state;
mod stats;
mod stored;
mod summarize;
mod time;
mod turns;
mod update;
mod utterances;
mod walk;
mod watch;
mod write;

pub use address::{Address, Caller};
pub use applied::Applied;
pub use aside::{COUNT_ASIDE_BYTES, aside};
pub use clock::{Clock, SystemClock};
pub use compact::{AnswerCall, AnswerReply, CompactCall, CompactReply, UndoCall, UndoReply};
pub use context::{BuildContextCall, BuildContextReply, Recall};
pub use conversations::{ConversationPage, ConversationReply, CreateCall, ListConversations};
pub use embedding::{Embedded, EmbeddingStanding};
pub use end::{EndCall, EndReply};
pub use error::EngineError;
pub use events::{Event, EventCursor, EventLog, EventStream, Operation, Subject, Watched};
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
pub use page::PageRoom;
pub use pipeline::MemorizePipeline;
pub use recipient::RecipientRemoval;
pub use remember::{Filter, Order, RememberCall, RememberReply, Scope};
pub use request::Attempt;
pub use restore::{RestoreCall, RestoreReply};
pub use share::{ShareCall, ShareReply};
pub use state::{StateReply, UpdateStateCall};
pub use stats::{StatsCall, StatsReply};
pub use summarize::{Patience, SummarizeCall, SummarizeReply, SummarizeScope};
pub use update::{Edit, UpdateCall, UpdateReply, UpdateUtteranceCall, UpdateUtteranceReply};
pub use utterances::{ListUtterances, Part, UtterancePage};
pub use watch::CapacityWatch;

/// What [`EngineError::Store`] holds, for those above who never see a store.
pub use crate::store::{BackupRefused, StoreError};
/// How lists of conversations are ordered.
pub use crate::store::{ListOrder, ListedAt};
