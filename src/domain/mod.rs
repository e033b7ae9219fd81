//! The rules: what a conversation holds, and what each command makes of it.
//!
//! Everything here is pure and synchronous. Time, ids and token counts come in as
//! arguments; what happened comes out as a [`Change`].

mod abandoned;
mod block;
mod calendar;
pub mod call_ids;
pub mod capacity;
pub mod change;
pub mod check;
pub mod closing;
pub mod compaction;
pub mod context;
pub mod conversation;
mod copies;
pub mod draft;
pub mod edit;
pub mod embedding;
pub mod encoding;
pub mod end;
pub mod erasure;
pub mod error;
pub mod exchange;
pub mod extractive;
pub mod forget;
pub mod forgetting;
pub mod fork;
pub mod history;
mod ids;
pub mod import;
pub mod limits;
mod lineage;
mod locate;
mod log;
pub mod memorize;
pub mod memory;
mod now;
pub mod origin;
mod parting;
pub mod policy;
mod quoted;
mod quoting;
mod ranges;
mod reason;
pub mod recall;
pub mod restore;
mod role;
pub mod segment;
mod selection;
mod sequence;
pub mod share;
mod shortening;
pub mod state;
pub mod stats;
mod stop;
#[cfg(test)]
mod test_life;
mod trunk;
pub mod update;
mod utterance;
mod window;

pub use block::Block;
pub use change::{Change, Loaded, Need, Transition, Verdict};
pub use conversation::{Conversation, Ending, Head, Identity};
pub use draft::Draft;
pub use encoding::{Encoding, TokenCounter};
pub use error::{Refusal, Violation};
pub use ids::{
    ChangeId, ConversationId, ConversationKey, IdError, LineageId, Namespace, RecipientId, RequestId,
    ShareId, UtteranceId,
};
pub use now::{Now, is_ahead};
pub use origin::{Copied, Origin, Origins};
pub use policy::{Marks, Oversize, Policy};
pub use quoted::quoted;
pub use ranges::Ranges;
pub use reason::Reason;
pub use role::Role;
pub use sequence::{Revision, Sequence, Timestamp};
pub use trunk::{ForkedFrom, Trunk};
pub use utterance::{AssignedId, More, Original, ToolCall, Utterance};
pub use window::Window;
