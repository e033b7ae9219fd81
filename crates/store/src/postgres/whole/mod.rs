//! Everything in a schema, as records: read for a backup or a verification, and restored.

pub(super) mod computed;
mod conversations;
pub(super) mod restore;
pub(super) mod snapshot;
mod tables;
mod writer;
