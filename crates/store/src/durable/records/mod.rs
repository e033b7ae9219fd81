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
//! - The payload is a protobuf message. It does not repeat data from the key.
//! - Nothing read is trusted: every id, number and order is checked, and a [`BadRecord`] describes the
//!   problem.
//!
//! # How a record may change
//!
//! Until the first release, freely. From then on:
//!
//! - Numbers of kinds, fields and enum variants are never changed and never reused.
//! - A new field is absent in records written before, and such a record means the same as before. Older
//!   programs skip fields that they do not know.
//! - If skipping a field would lose or misread something, the kind's version rises, and older programs refuse
//!   the record. The program that raises it reads every released version.
//! - `tests/written.txt` has literal bytes of each kind. A released line never changes; a new field or version
//!   adds a line: `cargo test -p utterd-store write_the_records -- --ignored`.
//! - `tests/it/durable/fixture.rs` opens whole stores of the first format.

mod compaction;
mod description;
mod fault;
mod field;
mod fields;
mod head;
mod key;
mod key_parts;
mod keys;
mod kind;
mod kinds;
mod link;
mod number;
mod outcome;
mod payload;
mod prefixes;
mod ranges;
mod read;
mod segment;
#[cfg(test)]
mod tests;
mod utterance;
mod values;

pub use description::Description;
pub use fault::{BadRecord, Fault};
pub use head::HeadRecord;
pub use key::{KeyPart, KeyReader, KeyWriter, RecordKey};
pub use keys::{BlockName, ListPlace, Meta, NamespacePlace, OfLineage, OutcomeName, Place, StateName};
pub use kind::{Kind, decode, decode_key, key, name, pair};
pub use kinds::{
    Active, BlockLists, Blocks, Compactions, ConversationName, Descriptions, Dues, Ended, Endings, GivenIds,
    Heads, Links, Listed, Metas, OutcomeAges, Outcomes, Policies, Readers, RecipientUpdated, Record,
    Segments, Started, StateValues, Updated, Utterances, Waiting,
};
pub use link::{group_writes, missing_group};
pub use prefixes::{
    all_of, ascending, descending, dues_up_to, names_from, of_lineage, of_list, of_list_at,
    outcome_ages_before, utterances_among, waiting_behind,
};
pub use read::{Unread, get, read, within};
pub use values::{BlockBytes, BlockList, LineageReader};
