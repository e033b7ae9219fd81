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
//! - Numbers of kinds, fields and enum variants are never changed and never reused.
//! - A new field is absent in records of older versions. A record without the field means the same as before
//!   the field existed. Older versions skip unknown fields.
//! - If skipping a field would lose or misread something, the kind's version rises, and older versions refuse
//!   the record. All versions ever written can be read; a value that an older version reads correctly is
//!   still written as that version wrote it.

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
