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
//! Until the first release, freely. From then on:
//!
//! - Numbers of kinds are never changed and never reused.
//! - The order of fields and of enum variants in a stored type is never changed, and nothing is added or removed,
//!   without raising the versions of the kinds that hold the type. Older programs refuse the record, and the program
//!   that raises a version reads every released one.
//! - `tests/written.txt` has literal bytes of each kind. A released line never changes; a new field or version
//!   adds a line: `cargo test -p utterd-store write_the_records -- --ignored`.
//! - `tests/it/durable/fixture.rs` opens whole stores of the first format.

mod description;
mod fault;
mod head;
mod key;
mod key_parts;
mod keys;
mod kind;
mod kinds;
mod link;
mod prefixes;
#[cfg(test)]
mod tests;
mod values;

pub use description::Description;
pub use fault::{BadRecord, Fault};
pub use head::HeadRecord;
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
