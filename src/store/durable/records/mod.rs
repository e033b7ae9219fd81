//! The records of a durable store: what each key and each value is made of.
//!
//! The table of [`Kind`]s is in `kinds.rs`. Every engine keeps the same bytes:
//!
//! | part | bytes |
//! |---|---|
//! | key | the kind's number, one byte; then its parts, see [`KeyPart`] |
//! | value | the kind's version, one byte; the payload; the checksum, four bytes |
//!
//! - The checksum is the low half of xxh3-64 over the key, the version and the payload, its
//!   lowest byte first: a value that is damaged or stands under another's key is noticed.
//! - The payload is a protobuf message. What the key says is not said again.
//! - Nothing that was read is trusted: every id, number and order is checked, and what is
//!   wrong with a record is said in a [`BadRecord`].
//!
//! # How a record may change
//!
//! - Numbers of kinds, of fields and of what an enum names are never changed and never reused.
//! - A field that is added is absent in what an older version wrote: its absence means what was
//!   true before there was the field. An older version passes over a field that it does not know.
//! - Where passing over it would lose or misread something, the kind's version rises, and an older
//!   version refuses the record. Every version that was ever written is read; a value that an older
//!   version reads right is still written as that version wrote it.

mod block;
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
mod state;
#[cfg(test)]
mod tests;
mod utterance;
mod values;

pub use block::{BlockBytes, BlockList};
pub use description::Description;
pub use fault::{BadRecord, Fault};
pub use head::HeadRecord;
pub use key::{KeyPart, KeyReader, KeyWriter, RecordKey};
pub use keys::{BlockName, ListPlace, Meta, NamespacePlace, OfLineage, OutcomeName, StateName};
pub use kind::{Kind, decode, decode_key, key, name, pair};
pub use kinds::{
    Active, BlockLists, Blocks, Compactions, ConversationName, Descriptions, Dues, Ended, Endings, GivenIds,
    Heads, Links, Listed, Metas, OutcomeAges, Outcomes, Policies, Readers, RecipientUpdated, Record,
    Segments, Started, StateValues, Updated, Utterances, Waiting,
};
pub use link::{group_writes, missing_group};
pub use prefixes::{
    all_of, ascending, descending, dues_up_to, names_from, namespace_time, of_lineage, of_namespace,
    of_recipient, outcome_ages_before, recipient_time, utterances_among, waiting_behind,
};
pub use read::{Unread, get, read, within};
pub use values::LineageReader;
