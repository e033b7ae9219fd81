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
mod connection;
mod hints;
mod last_seen;
mod list;
mod migrate;
mod place;
mod read;
mod store;
mod trace;
mod types;
mod whole;
mod write;

pub use connection::options::{DatabaseUrl, Options};
pub use migrate::{Migrated, Migration, migrate, pending};
pub use store::PostgresStore;
pub use whole::copy::copy;
pub use whole::reindex::reindex;
pub use whole::snapshot::{Snapshot, read};
pub use whole::unfinished::unfinished;
pub use whole::verify::verify;
