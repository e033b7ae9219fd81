//! Commands for conversations as a whole.

mod confirm;
pub(super) mod create;
pub(super) mod delete;
pub(super) mod delete_recipient;
pub(super) mod elements;
pub(super) mod end;
pub(super) mod export;
pub(super) mod fork;
pub(super) mod import;
pub(super) mod list;
pub(super) mod parts;
pub(super) mod policy;
pub(super) mod rename;
pub(super) mod share;
pub(super) mod show;
pub(super) mod state;
pub(super) mod stats;
pub(super) mod stored;
pub(super) mod watch;
