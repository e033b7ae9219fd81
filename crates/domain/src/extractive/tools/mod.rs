//! Calls of tools: what was called, what came back, how it ended.

pub(super) mod acts;
pub(super) mod arguments;
pub(super) mod calls;
pub(super) mod outcome;
pub(super) mod records;
pub(super) mod target;
pub(super) mod told_call;
