//! State: named values that callers keep beside a conversation.
//!
//! The head holds names, versions and sizes; the values are facts of a change, and stored apart, so that a commit
//! writes those alone that it sets. A version is the revision that wrote the value.

mod update;
mod value;

pub use update::{StateChange, UpdateState, update_state};
pub use value::{StaleName, StateContent, StateEntry, StateValue};
