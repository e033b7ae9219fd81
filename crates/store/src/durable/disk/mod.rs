//! The files and directories of a durable store.

pub(super) mod directory;
pub(super) mod files;
pub(super) mod generations;
#[cfg(test)]
pub(super) mod generations_tests;
pub(super) mod label;
pub(super) mod mark;
pub(super) mod place;
pub(super) mod room;
