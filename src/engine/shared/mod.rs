//! What is known of a store that other processes change too.

pub(super) mod confirmed;
pub(super) mod hints;
pub(super) mod known;
pub(super) mod last_active;
pub(super) mod pointers;
