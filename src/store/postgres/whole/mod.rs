//! Operations on a whole schema: copying and verifying it.

pub(super) mod computed;
pub(super) mod conversations;
pub(super) mod copy;
pub(super) mod mismatches;
pub(super) mod session;
pub(super) mod snapshot;
pub(super) mod tables;
pub(super) mod verify;
pub(super) mod writer;
