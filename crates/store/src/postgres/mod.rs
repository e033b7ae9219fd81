//! Stores conversations in PostgreSQL, shared by any number of processes.
//!
//! ```text
//! PostgresStore ─ commit → Lanes (in the order of calls) → Plan: a commit as statements, or as a Row in Batches
//!               ├ load …: one statement per read; short queries in Batches
//!               └ hints  → LISTEN
//!                                Database: the pool of connections, and whether it can be reached
//! each_record: the tables at one moment, as the records of the durable stores, for backups; restore writes them
//! ```
//!
//! - `migrations` holds the commented SQL of the schema; [`migrate`] applies it.
//! - The records are those of the durable stores, so both fulfil the same promise: see
//!   [`records`](crate::records).
//! - A commit is a compare-and-set of the conversation's change id. It takes one round trip: either one
//!   statement, shared with other pending commits, or one transaction whose statements are sent together.
//! - If a connection breaks during a commit, the store settles the commit on another connection before it
//!   answers. Both insert the same row in `changes`, and whichever is first decides: the commit took effect, or
//!   never will.

mod batches;
mod checks;
mod chores;
mod connection;
mod derived;
mod hints;
mod list;
mod migrate;
mod place;
mod read;
mod sharing;
mod store;
mod types;
mod whole;
mod write;

pub use connection::options::{DatabaseUrl, Options};
pub use migrate::{Migrated, Migration, migrate, pending};
pub use store::PostgresStore;
pub use whole::restore::restore;
pub use whole::snapshot::each_record;
