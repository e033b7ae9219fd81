//! Durable stores: conversations in files, over an engine of ordered keys.
//!
//! ```text
//! DurableStore ─ commit → Request → group commit: one thread, one batch, one flush
//!              └ load … → Reader                        │
//!                                   records: what keys and values are made of
//!                                   Directory: locked, labelled, marked
//!                                   KeyValue: fjall, sled
//! ```
//!
//! | file in the directory | what it is for |
//! |---|---|
//! | `LOCK` | locked while the store is open |
//! | `STORE` | which engine keeps the files, and in which format |
//! | `mark` | how far the store has been flushed, so that files which lost the end are noticed |
//! | `fjall`, `sled` | the engine's files |
//!
//! # What forks share
//!
//! Utterances, and the ids that clients gave them, stand under the lineage that they were written to.
//! A conversation that was forked, or is a fork, reads its branch and then its trunks, the newest first:
//! the first record of a sequence is the utterance. It writes to its branch alone; so what it changes of
//! what it shares overrides that for itself. A record of each trunk tells who reads it, and how far.
//! Utterances that a reader drops, or has when it is deleted, are removed unless the head of another
//! reader still counts them in; what is erased is removed in every lineage.

mod backup;
mod copy;
mod directory;
mod error;
mod files;
mod fjall;
mod generations;
mod group_commit;
pub mod key_value;
mod label;
mod lists;
mod mark;
mod options;
mod panics;
mod place;
mod reader;
pub mod records;
mod reindex;
mod request;
mod room;
mod scrub;
mod sled;
mod store;
mod verify;

/// Makes a test of each case on each engine, `ENGINE::CASE`.
#[cfg(test)]
macro_rules! on_each_engine {
    ($($case:ident)*) => {
        mod fjall {
            $(#[test] fn $case() { super::$case::<super::FjallEngine>(); })*
        }
        mod sled {
            $(#[test] fn $case() { super::$case::<super::SledEngine>(); })*
        }
    };
}

#[cfg(test)]
mod blocks_tests;
#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod generations_tests;
#[cfg(test)]
mod quotas_tests;
#[cfg(test)]
mod test_conversation;
#[cfg(test)]
mod test_outcome;

pub use backup::{Backup, BackupError, Held, restore};
pub use copy::{Copied, CopyError, copy, is_same};
pub use directory::{Directory, OpenError};
pub use label::{EngineKind, UnknownEngine};
pub use options::{Flush, Options};
pub use reindex::{Reindexed, Scope, reindex};
pub use scrub::{Scrubbed, scrub};
pub use store::DurableStore;
pub use verify::{MAX_PROBLEMS, Problem, Report, verify};
