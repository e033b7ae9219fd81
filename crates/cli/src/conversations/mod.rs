//! Commands for conversations as a whole.

pub(super) mod delete;
pub(super) mod end;
pub(super) mod export;
mod follow;
pub(super) mod import;
mod importing;
pub(super) mod list;
pub(super) mod parts;
pub(super) mod show;
pub(super) mod stored;
