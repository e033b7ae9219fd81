//! Operations on a whole schema: copying, verifying and reindexing it.

pub(super) mod computed;
pub(super) mod conversations;
pub(super) mod copy;
pub(super) mod mismatches;
pub(super) mod reindex;
pub(super) mod session;
pub(super) mod snapshot;
pub(super) mod tables;
pub(super) mod verify;
pub(super) mod writer;
