//! State: named values that callers keep for a conversation or for a recipient.
//!
//! A recipient's own state is stored as the state of an unlisted conversation without utterances, whose id no
//! caller can give: [`ConversationId::of_state`](crate::ConversationId::of_state). So everything that
//! holds for a conversation's state holds for it too.
//!
//! The head holds names, versions and sizes. The values are facts of a change and are stored separately, so
//! that a commit writes only those that it sets. A version is the revision that wrote the value.

mod update;
mod value;

pub use update::{StateChange, UpdateState, update_state};
pub use value::{StaleName, StateContent, StateEntry, StateValue};
