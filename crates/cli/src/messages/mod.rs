//! Commands that write and read what is said in a conversation.

pub(super) mod capacity;
pub(super) mod compact;
pub(super) mod context;
pub(super) mod forget;
pub(super) mod memorize;
pub(super) mod prepare;
pub(super) mod remember;
pub(super) mod restore;
pub(super) mod summarize;
