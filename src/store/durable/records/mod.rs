//! The records of a durable store: what each key and each value is made of.
//!
//! A [`Kind`] of record has a file of its own. Every engine keeps the same bytes:
//!
//! | part | bytes |
//! |---|---|
//! | key | the kind's number, one byte; then its parts, see [`KeyWriter`] |
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

mod active;
mod compaction;
mod conversation;
mod description;
mod due;
mod ended;
mod ending;
mod fault;
mod field_value;
mod fields;
mod given_id;
mod head;
mod key;
mod kind;
mod link;
mod listed;
mod meta;
mod number;
mod outcome;
mod outcome_age;
mod payload;
mod policy;
mod ranges;
mod read;
mod reader;
mod record;
mod retold;
mod segment;
#[cfg(test)]
mod tests;
mod utterance;
mod waiting;

pub use active::Active;
pub use compaction::{Compactions, compactions_of};
pub use conversation::ConversationName;
pub use description::{Description, Descriptions};
pub use due::{Dues, dues_up_to};
pub use ended::{Ended, EndedKey, ended, ended_of};
pub use ending::Endings;
pub use fault::{BadRecord, Fault};
pub use given_id::{GivenIds, given_ids_of};
pub use head::{HeadRecord, Heads};
pub use key::{KeyReader, KeyWriter, prefix_end};
pub use kind::{Kind, all_of, decode, decode_key, key, name, pair};
pub use link::{Links, group_writes, missing_group};
pub use listed::{Listed, ListedKey, listed, listed_behind, listed_of};
pub use meta::{Meta, Metas};
pub use outcome::{OutcomeName, Outcomes};
pub use outcome_age::{OutcomeAges, outcome_ages_before};
pub use policy::Policies;
pub use read::{Unread, beginning, from, get, read, within};
pub use reader::{LineageReader, Readers, readers_of};
pub use record::Record;
pub use segment::{Segments, segments_of};
pub use utterance::{Utterances, utterances_among, utterances_of};
pub use waiting::{Waiting, waiting_behind};

use crate::{domain::LineageId, store::durable::key_value::Key};

/// What the keys of all records begin with of which a conversation alone has any number; `branch` is
/// the lineage that it writes to.
pub fn prefixes_of(lineage: LineageId, branch: LineageId) -> [Key; 4] {
    [segments_of(lineage), compactions_of(lineage), utterances_of(branch), given_ids_of(branch)]
}
