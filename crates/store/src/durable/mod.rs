//! Durable stores: conversations in files, over an engine of ordered keys.
//!
//! ```text
//! DurableStore ─ commit → Request → group commit: one thread, one batch, one flush
//!              └ load … → Reader                        │
//!                                   records: the layout of keys and values
//!                                   Directory: locked, labelled, marked
//!                                   KeyValue: fjall, sled
//! ```
//!
//! | file in the directory | purpose |
//! |---|---|
//! | `LOCK` | locked while the store is open |
//! | `STORE` | the engine that keeps the files, and their format |
//! | `mcp.sock` | where the process with the store serves others, if it does |
//! | `mark` | how far the store has been flushed, so that lost writes are noticed |
//! | `fjall`, `sled` | the engine's files |
//!
//! # Utterances that forks share
//!
//! Utterances, and the ids that clients gave them, are stored under the lineage they were written to. A
//! conversation that was forked, or is a fork, reads its branch and then its trunks, newest first: the first
//! record found for a sequence is the utterance. It writes only to its branch, so its changes to shared
//! utterances override them for itself alone. For each trunk, one record per reader says how far the
//! conversation reads it. When a reader drops shared utterances, or is deleted, they are removed unless
//! another reader's head still includes them; a hard forget removes them in every lineage.

#[cfg(feature = "fjall")]
mod fjall;
mod group_commit;
pub mod key_value;
mod options;
pub mod pairs;
mod panics;
mod reader;
mod request;
mod restore;
mod scrub;
#[cfg(feature = "sled")]
mod sled;
mod store;

/// Makes one test per case and engine, `ENGINE::CASE`.
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
mod backup_tests;
#[cfg(test)]
mod blocks_tests;
mod disk;
#[cfg(test)]
mod quotas_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verify_tests;

pub use disk::directory::{Directory, OpenError, SOCKET};
pub use disk::label::{EngineKind, UnknownEngine};
pub use options::{Flush, Options};
pub use restore::restore;
pub use scrub::{Scrubbed, scrub};
pub use store::DurableStore;
