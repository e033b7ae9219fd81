//! The rules: what a conversation holds, and what each command makes of it.
//!
//! Everything here is pure and synchronous. Time, ids and token counts come in as
//! arguments; what happened comes out as a [`Change`].

pub mod capacity;
pub mod change;
pub mod check;
pub mod closing;
pub mod compaction;
pub mod context;
pub mod conversation;
pub mod draft;
pub mod edit;
pub mod end;
pub mod error;
pub mod exchange;
pub mod extract;
pub mod forget;
pub mod forgetting;
pub mod fork;
pub mod history;
pub mod import;
pub mod limits;
mod locate;
pub mod memorize;
mod passage;
mod phrases;
pub mod policy;
mod quoting;
pub mod recall;
pub mod segment;
pub mod share;
mod shortening;
pub mod state;
pub mod stats;
#[cfg(test)]
mod test_life;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod update;
mod utterance;
pub mod values;
mod window;

pub use change::{Change, Loaded, Need, Transition, Undecided};
pub use conversation::{Conversation, Ending, Head, Identity};
pub use draft::Draft;
pub use error::{Refusal, Result, Size, Violation};
pub use fork::origin::{Copied, Origin, Origins};
pub use fork::trunk::{ForkedFrom, Trunk};
pub use policy::{Marks, Oversize, Policy};
pub use utterance::{AssignedId, More, Original, ToolCall, Utterance};
pub use values::block::Block;
pub use values::encoding::{Encoding, TokenCounter};
pub use values::ids::{
    ChangeId, ConversationId, ConversationKey, IdError, LineageId, Namespace, RecipientId, RequestId,
    ShareId, UtteranceId,
};
pub use values::now::{Now, is_ahead};
pub use values::quoted::quoted;
pub use values::ranges::Ranges;
pub use values::reason::Reason;
pub use values::role::Role;
pub use values::sequence::{Revision, Sequence, Timestamp};
pub use window::Window;
