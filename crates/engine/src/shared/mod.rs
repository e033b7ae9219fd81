//! Reads a store that other processes may change too: when the store must be asked, and what its answers
//! mean.

pub(super) mod active;
pub(super) mod ask;
pub(super) mod hints;
pub(super) mod last_active;
pub(super) mod pointers;
pub(super) mod states;
