//! The kinds of records.

#[cfg(any(test, fuzzing))]
use super::kind::pair;
#[cfg(any(test, fuzzing))]
use crate::store::durable::key_value::{Key, Value};

use super::{
    BadRecord, BlockBytes, BlockList, BlockName, Description, Fault, HeadRecord, Kind, LineageReader,
    ListPlace, Meta, NamespacePlace, OutcomeName, StateName,
    kind::{decode, name, unreadable_key},
};
use crate::{
    domain::{
        ConversationId, ConversationKey, Ending, Identity, LineageId, Policy, Sequence, Timestamp, Utterance,
        compaction::Compaction, segment::Segment, state::StateValue,
    },
    store::{Due, Outcome, RecipientKey},
};

/// Makes the kinds: number, newest version, name, key and value of each.
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

        /// A record of any kind: its key, and its value.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "records are looked at one by one, and not kept")]
        pub enum Record {
            $($(#[$doc])* $kind($key, $value),)*
        }

        impl Record {
            /// The numbers of all kinds, ascending.
            pub const NUMBERS: &[u8] = &[$($number),*];

            /// Reads a record whose kind the key tells.
            pub fn read(key: &[u8], value: &[u8]) -> Result<Self, BadRecord> {
                match key.first() {
                    $(Some($number) => {
                        decode::<$kind>(key, value).map(|(key, value)| Self::$kind(key, value))
                    })*
                    Some(&number) => Err(unreadable_key("record", key, Fault::NewerKind(number))),
                    None => Err(unreadable_key("record", key, Fault::wrong("the key", "is empty"))),
                }
            }

            /// The key and the value that it is stored as.
            #[cfg(any(test, fuzzing))]
            pub fn written(&self) -> (Key, Value) {
                match self {
                    $(Self::$kind(key, value) => pair::<$kind>(key, value),)*
                }
            }

            /// Its kind and its key, as a person reads them.
            pub fn name(&self) -> String {
                match self {
                    $(Self::$kind(key, _) => name::<$kind>(key),)*
                }
            }
        }
    };
}

kinds! {
    /// A number of the store's own.
    Metas = 1, version 1, "number": Meta => u64;
    /// What never changes in a conversation's life, by its name.
    ConversationName = 2, version 1, "conversation": ConversationKey => Identity;
    /// What changes in it with almost every change, by the lineage of its identity.
    Heads = 3, version 3, "head": LineageId => HeadRecord;
    /// Its limits.
    Policies = 4, version 1, "policy": LineageId => Policy;
    /// Its title, labels, shares and parent.
    Descriptions = 5, version 1, "description": LineageId => Description;
    /// A segment of its summary, by its number.
    Segments = 6, version 5, "segment": (LineageId, u32) => Segment;
    /// An utterance, by the lineage that it was written to.
    Utterances = 7, version 2, "utterance": (LineageId, Sequence) => Utterance;
    /// Where an utterance is to which a client gave an id, by the lineage that it was written to.
    GivenIds = 8, version 1, "given id": (LineageId, Box<str>) => Sequence;
    /// An entry of a recipient's list of conversations, by start time: there is nothing but the key.
    Listed = 9, version 1, "list entry": ListPlace => ();
    /// A recipient's active conversation.
    Active = 10, version 1, "active conversation": RecipientKey => ConversationId;
    /// What a named attempt of a call came to.
    Outcomes = 11, version 1, "outcome": OutcomeName => Outcome;
    /// When it did: there is nothing but the key.
    OutcomeAges = 12, version 1, "age": (Timestamp, OutcomeName) => ();
    /// Work, by the first moment at which it is due: there is nothing but the key.
    Dues = 13, version 1, "due work": (Timestamp, Due) => ();
    /// That a group is there: nothing but the key.
    Links = 14, version 1, "link": u64 => ();
    /// How a conversation ended, by the lineage of its identity.
    Endings = 15, version 2, "ending": LineageId => Ending;
    /// That a conversation reads a lineage of before a fork, by that lineage and by that of its identity.
    Readers = 16, version 1, "reader": (LineageId, LineageId) => LineageReader;
    /// An entry of a recipient's list of ended conversations, by the time of the end: nothing but the key.
    Ended = 17, version 1, "entry of what ended": ListPlace => ();
    /// A compaction, by the lineage of the conversation's identity and its number.
    Compactions = 18, version 3, "compaction": (LineageId, u32) => Compaction;
    /// That a conversation waits for a model, and since when its first segment does: nothing but the key.
    Waiting = 19, version 1, "waiting summary": (Timestamp, ConversationKey) => ();
    /// What is derived from a block of a conversation's utterances, by the lineage of the conversation's identity.
    Blocks = 20, version 1, "block": (LineageId, BlockName) => BlockBytes;
    /// Which of these there are, by the same.
    BlockLists = 21, version 1, "list of blocks": LineageId => BlockList;
    /// An entry of a namespace's list of conversations, by start time: nothing but the key.
    Started = 22, version 1, "entry of the namespace's list": NamespacePlace => ();
    /// The same by the span of time in which each changed last.
    Updated = 23, version 1, "entry by update": NamespacePlace => ();
    /// The same of a recipient's conversations.
    RecipientUpdated = 24, version 1, "entry of a recipient's by update": ListPlace => ();
    /// A value of a conversation's state, by the lineage of its identity and its name.
    StateValues = 25, version 1, "state value": (LineageId, StateName) => StateValue;
}
