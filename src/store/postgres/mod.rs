//! Conversations in PostgreSQL, which any number of processes use at the same time.
//!
//! ```text
//! PostgresStore ─ commit → Lanes (in the order of calls) → Plan: a commit as statements, or as a Row of Batches
//!               ├ load … → Reader: one statement, one moment; short questions in Batches
//!               └ hints  → LISTEN
//!                                Database: the pool of connections, and whether it can be reached
//! Snapshot: one moment of the tables, as the records of the durable stores
//! ├ copy: its records go into another store, and those of another store into the tables
//! └ verify: they are checked like those of a durable store; reindex sets columns right
//! ```
//!
//! - `migrations` holds the schema, in SQL that explains itself; [`migrate`] applies it.
//! - The records are those of the durable stores, so both fulfil the same promise: see
//!   [`records`](super::durable::records).
//! - A commit is a compare-and-set of the conversation's change id. It is one statement, which it shares with the
//!   other commits that wait, or one transaction whose statements are sent together: one round trip either way.
//! - A commit whose connection breaks is settled on another one before it is answered: each writes a row in
//!   `changes`, and whoever writes that row first decides whether the commit takes effect.

mod batches;
mod checks;
mod chores;
mod commit;
mod computed;
mod connect;
mod conversations;
mod copy;
mod database;
mod fault;
mod hints;
mod lanes;
mod last_seen;
mod list;
mod lone;
mod migrate;
mod mismatches;
mod options;
mod parameters;
mod place;
mod plan;
mod quotas;
mod read;
mod reindex;
mod row;
mod session;
mod snapshot;
mod sql;
mod store;
mod tables;
mod trace;
mod types;
mod unfinished;
mod verify;
mod waits;
mod writer;

pub use copy::copy;
pub use migrate::{Migrated, Migration, migrate, pending};
pub use options::{DatabaseUrl, Options};
pub use reindex::reindex;
pub use snapshot::{Snapshot, read};
pub use store::PostgresStore;
pub use unfinished::unfinished;
pub use verify::verify;
