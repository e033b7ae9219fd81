//! Conversations in PostgreSQL, which any number of processes use at the same time.
//!
//! ```text
//! PostgresStore ─ commit → Lanes (in the order of calls) → Plan: a commit as statements
//!               ├ load … → Reader: one statement, one moment
//!               └ hints  → LISTEN
//!                                Database: the pool of connections, and whether it can be reached
//! ```
//!
//! - `migrations` holds the schema, in SQL that explains itself; [`migrate`] applies it.
//! - The records are those of the durable stores, so both fulfil the same promise: see
//!   [`records`](super::durable::records).
//! - A commit is a compare-and-set of the conversation's change id. It is one statement, or one transaction
//!   whose statements are sent together: one round trip either way.
//! - A commit whose connection breaks is settled on another one before it is answered: each writes a row in
//!   `changes`, and whoever writes that row first decides whether the commit takes effect.

mod chores;
mod commit;
mod connect;
mod database;
mod fault;
mod hints;
mod lanes;
mod last_seen;
mod list;
mod migrate;
mod options;
mod plan;
mod quotas;
mod read;
mod sql;
mod store;
mod trace;
mod types;
mod waits;

pub use migrate::{Migrated, Migration, migrate, pending};
pub use options::{DatabaseUrl, Options};
pub use store::PostgresStore;
