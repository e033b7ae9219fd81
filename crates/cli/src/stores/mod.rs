//! Commands for stores as a whole.

pub(super) mod backup;
pub(super) mod database;
pub(super) mod migrate;
pub(super) mod scrub;
pub(super) mod verify;
