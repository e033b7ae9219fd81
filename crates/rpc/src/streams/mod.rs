//! Streams of requests and responses, and the memory that they take.

pub(super) mod endless;
pub(super) mod memory_room;
pub(super) mod paced;
