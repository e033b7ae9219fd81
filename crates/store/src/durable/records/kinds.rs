//! The kinds of records.

#[cfg(any(test, fuzzing))]
use super::kind::pair;
#[cfg(any(test, fuzzing))]
use crate::durable::key_value::{Key, Value};

use super::{
    BadRecord, BlockBytes, BlockList, BlockName, Description, Fault, HeadRecord, Kind, LineageReader,
    ListPlace, Meta, NamespacePlace, OutcomeName, StateName,
    kind::{decode, name, unreadable_key},
};
use crate::{Due, Outcome, RecipientKey};
use utterd_domain::{
    ConversationId, ConversationKey, Ending, Identity, LineageId, Policy, Sequence, Timestamp, Utterance,
    compaction::Compaction, segment::Segment, state::StateValue,
};

/// Defines the kinds: number, version, name, key and value of each.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal, version $version:literal, $name:literal: $key:ty => $value:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $kind;

            impl Kind for $kind {
                const NUMBER: u8 = $number;
                const VERSION: u8 = $version;
                const NAME: &'static str = $name;
                type Key = $key;
                type Value = $value;
            }
        )*

        /// A record of any kind: its key and value.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "records are looked at one by one, and not kept")]
        pub enum Record {
            $($(#[$doc])* $kind($key, $value),)*
        }

        impl Record {
            /// The numbers of all kinds, ascending.
            pub const NUMBERS: &[u8] = &[$($number),*];

            /// Reads a record of the kind given by its key.
            pub fn read(key: &[u8], value: &[u8]) -> Result<Self, BadRecord> {
                match key.first() {
                    $(Some($number) => {
                        decode::<$kind>(key, value).map(|(key, value)| Self::$kind(key, value))
                    })*
                    Some(&number) => Err(unreadable_key("record", key, Fault::NewerKind(number))),
                    None => Err(unreadable_key("record", key, Fault::wrong("the key", "is empty"))),
                }
            }

            /// Returns the encoded key and value.
            #[cfg(any(test, fuzzing))]
            pub fn written(&self) -> (Key, Value) {
                match self {
                    $(Self::$kind(key, value) => pair::<$kind>(key, value),)*
                }
            }

            /// Returns a readable form of the record's kind and key.
            pub fn name(&self) -> String {
                match self {
                    $(Self::$kind(key, _) => name::<$kind>(key),)*
                }
            }
        }
    };
}

kinds! {
    /// One of the store's own numbers.
    Metas = 1, version 1, "number": Meta => u64;
    /// The part of a conversation that never changes, by name.
    ConversationName = 2, version 1, "conversation": ConversationKey => Identity;
    /// The part of a conversation that almost every change modifies, by the lineage of its identity.
    Heads = 3, version 1, "head": LineageId => HeadRecord;
    /// A conversation's limits.
    Policies = 4, version 1, "policy": LineageId => Policy;
    /// A conversation's title, labels, shares, parent, copies and state entries.
    Descriptions = 5, version 1, "description": LineageId => Description;
    /// A segment of a conversation's summary, by its number.
    Segments = 6, version 1, "segment": (LineageId, u32) => Segment;
    /// An utterance, by the lineage it was written to.
    Utterances = 7, version 1, "utterance": (LineageId, Sequence) => Utterance;
    /// The sequence of the utterance to which a client gave an id, by the lineage it was written to.
    GivenIds = 8, version 1, "given id": (LineageId, Box<str>) => Sequence;
    /// An entry of a recipient's list of conversations, by start time; only a key.
    Listed = 9, version 1, "list entry": ListPlace => ();
    /// A recipient's active conversation.
    Active = 10, version 1, "active conversation": RecipientKey => ConversationId;
    /// The outcome of a call with a request id.
    Outcomes = 11, version 1, "outcome": OutcomeName => Outcome;
    /// The time of an outcome; only a key.
    OutcomeAges = 12, version 1, "age": (Timestamp, OutcomeName) => ();
    /// Work, by the time it becomes due; only a key.
    Dues = 13, version 1, "due work": (Timestamp, Due) => ();
    /// The link of a group; only a key.
    Links = 14, version 1, "link": u64 => ();
    /// The end of a conversation, by the lineage of its identity.
    Endings = 15, version 1, "ending": LineageId => Ending;
    /// A conversation's use of a trunk, by the trunk's lineage and the lineage of the conversation's
    /// identity.
    Readers = 16, version 1, "reader": (LineageId, LineageId) => LineageReader;
    /// An entry of a recipient's list of ended conversations, by the time of the end; only a key.
    Ended = 17, version 1, "entry of the ended conversations": ListPlace => ();
    /// A compaction, by the lineage of the conversation's identity and its number.
    Compactions = 18, version 1, "compaction": (LineageId, u32) => Compaction;
    /// A conversation waiting for a model, by the time since which its first segment has been waiting; only a
    /// key.
    Waiting = 19, version 1, "waiting summary": (Timestamp, ConversationKey) => ();
    /// Data derived from a block of a conversation's utterances, by the lineage of the conversation's
    /// identity.
    Blocks = 20, version 1, "block": (LineageId, BlockName) => BlockBytes;
    /// The list of a conversation's blocks, by the lineage of its identity.
    BlockLists = 21, version 1, "list of blocks": LineageId => BlockList;
    /// An entry of a namespace's list of conversations, by start time; only a key.
    Started = 22, version 1, "entry of the namespace's list": NamespacePlace => ();
    /// An entry of a namespace's list of conversations, by the time span of the last change; only a key.
    Updated = 23, version 1, "entry of the namespace's list by update": NamespacePlace => ();
    /// An entry of a recipient's list of conversations, by the time span of the last change; only a key.
    RecipientUpdated = 24, version 1, "entry of the recipient's list by update": ListPlace => ();
    /// A value of a conversation's state, by the lineage of its identity and the value's name.
    StateValues = 25, version 1, "state value": (LineageId, StateName) => StateValue;
}
