//! Values that everything else is made of: ids, sequences, times, sets.

pub(super) mod block;
pub(super) mod calendar;
pub mod embedding;
pub mod encoding;
pub(super) mod ids;
pub(super) mod log;
pub mod memory;
pub(super) mod now;
pub(super) mod quoted;
pub(super) mod ranges;
pub(super) mod reason;
pub(super) mod role;
pub(super) mod sequence;
