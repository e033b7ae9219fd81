//! The records of a durable store: the layout of their keys and values.
//!
//! The table of [`Kind`]s is in `kinds.rs`. Every engine keeps the same bytes:
//!
//! | part | bytes |
//! |---|---|
//! | key | kind number, one byte; then the parts, see [`KeyPart`] |
//! | value | version of the kind, one byte; payload; checksum, four bytes |
//!
//! - The checksum is the low half of xxh3-64 over the key, the version and the payload, little-endian. It
//!   reveals a value that is damaged or stored under another value's key.
//! - The payload is the value in [postcard](https://postcard.jamesmunns.com)'s format: its fields one after the other,
//!   in the order in which its type names them.
//! - What is read is not trusted: ids are checked, and what a value says against its key, and a [`BadRecord`] describes
//!   the problem.
//!
//! # How a record may change
//!
//! Servers of two releases may share a PostgreSQL, and a release that proves wrong is replaced by the one before. So
//! from the first release on:
//!
//! - A new field is added at the end of a record, and is zero, empty or `None` where it means nothing. A program that
//!   does not know it skips it, and drops it when it writes the record again; where it was not written yet, it is read
//!   as zero. A field of a type within a record is skipped by serde there, and added at the end of the record's own
//!   type.
//! - Anything else raises the version of the kind: another order or type of fields, a removed field, or a field that an
//!   older program must not drop. An older program refuses the record, so a release that raises a version only reads
//!   the new one, and the next one writes it. A program reads every released version, in `kind.rs`.
//! - Variants of enums are only added, at the end. An older program refuses a record that has a new one.
//! - Numbers of kinds are never changed and never reused.
//! - `tests/written.txt` has literal bytes of each kind. A released line never changes; a new field or version
//!   adds a line: `cargo test -p utterd-store write_the_records -- --ignored`.
//! - `tests/it/durable/fixture.rs` opens whole stores of the first format.

mod fault;
mod head;
mod key;
mod keys;
mod kind;
mod kinds;
mod link;
mod prefixes;
#[cfg(test)]
mod tests;
mod values;

pub use fault::{BadRecord, Fault};
pub use head::{Description, HeadRecord};
pub use key::{Key, KeyPart, KeyReader, KeyWriter, RecordKey, Value};
pub use keys::{BlockName, ListPlace, Meta, NamespacePlace, OfLineage, OutcomeName, Place, StateName};
pub use kind::{Kind, decode, decode_key, key, name, pair};
pub use kinds::{
    Active, Blocks, Compactions, ConversationName, Descriptions, Dues, Ended, GivenIds, Heads, Links, Listed,
    Metas, OutcomeAges, Outcomes, Readers, RecipientUpdated, Record, Segments, Started, StateValues, Updated,
    Utterances, Waiting,
};
pub use link::{group_writes, missing_group};
pub use prefixes::{
    all_of, ascending, blocks_among, descending, dues_up_to, names_from, of_lineage, of_list, of_list_at,
    outcome_ages_before, utterances_among, waiting_behind,
};
pub use values::{BlockBytes, LineageReader};
