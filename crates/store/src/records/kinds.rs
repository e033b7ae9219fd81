//! The kinds of records.

use std::sync::Arc;

use super::{
    BadRecord, BlockBytes, BlockName, Description, Fault, HeadRecord, Kind, LineageReader, ListPlace, Meta,
    NamespacePlace, OutcomeName, StateName,
    key::{Key, Value},
    kind::{decode, key, name, pair, unreadable_key},
};
use crate::{Due, Outcome, RecipientKey};
use utterd_domain::{
    ConversationId, ConversationKey, Identity, LineageId, Sequence, Timestamp, Utterance,
    compaction::Compaction, segment::Segment, state::StateValue,
};

/// Defines the kinds: number, version, name, key and value of each, and how a value is checked, if it is.
macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident = $number:literal, version $version:literal, $name:literal: $key:ty => $value:ty
        $(, checked by $check:expr)?;
    )*) => {
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

                fn check(_key: &$key, _value: &$value) -> Result<(), Fault> {
                    $({
                        let check: fn(&$key, &$value) -> Result<(), Fault> = $check;
                        check(_key, _value)?;
                    })?
                    Ok(())
                }
            }
        )*

        /// A record of any kind: its key and value.
        #[derive(Clone, Debug, PartialEq)]
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

            /// Returns the encoded key.
            pub fn key(&self) -> Key {
                match self {
                    $(Self::$kind(at, _) => key::<$kind>(at),)*
                }
            }

            /// Returns the encoded key and value.
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
    ConversationName = 2, version 1, "conversation": ConversationKey => Arc<Identity>,
        checked by |key, identity| same("the conversation", *key == identity.key);
    /// The part of a conversation that almost every change modifies, by the lineage of its identity.
    Heads = 3, version 1, "head": LineageId => Box<HeadRecord>,
        checked by |_, record| record.check();
    /// A conversation's title, labels, shares, parent, copies and state entries.
    Descriptions = 5, version 1, "description": LineageId => Description;
    /// A segment of a conversation's summary, by its number.
    Segments = 6, version 1, "segment": (LineageId, u32) => Arc<Segment>,
        checked by |(_, number), segment| same("the number", *number == segment.number);
    /// An utterance, by the lineage it was written to.
    Utterances = 7, version 1, "utterance": (LineageId, Sequence) => Arc<Utterance>,
        checked by |(_, sequence), utterance| same("the sequence", *sequence == utterance.sequence);
    /// The sequence of the utterance to which a client gave an id, by the lineage it was written to.
    GivenIds = 8, version 1, "given id": (LineageId, Box<str>) => Sequence;
    /// An entry of a recipient's list of conversations, by start time; only a key.
    Listed = 9, version 1, "list entry": ListPlace => ();
    /// A recipient's active conversation.
    Active = 10, version 1, "active conversation": RecipientKey => ConversationId;
    /// The outcome of a call with a request id.
    Outcomes = 11, version 1, "outcome": OutcomeName => Arc<Outcome>;
    /// The time of an outcome; only a key.
    OutcomeAges = 12, version 1, "age": (Timestamp, OutcomeName) => ();
    /// Work, by the time it becomes due; only a key.
    Dues = 13, version 1, "due work": (Timestamp, Due) => ();
    /// The link of a group; only a key.
    Links = 14, version 1, "link": u64 => ();
    /// A conversation's use of a trunk, by the trunk's lineage and the lineage of the conversation's
    /// identity.
    Readers = 16, version 1, "reader": (LineageId, LineageId) => LineageReader;
    /// An entry of a recipient's list of ended conversations, by the time of the end; only a key.
    Ended = 17, version 1, "entry of the ended conversations": ListPlace => ();
    /// A compaction, by the lineage of the conversation's identity and its number.
    Compactions = 18, version 1, "compaction": (LineageId, u32) => Arc<Compaction>,
        checked by |(_, number), compaction| same("the number", *number == compaction.number);
    /// A conversation waiting for a model, by the time since which its first segment has been waiting; only a
    /// key.
    Waiting = 19, version 1, "waiting summary": (Timestamp, ConversationKey) => ();
    /// Data derived from a block of a conversation's utterances, by the lineage of the conversation's
    /// identity.
    Blocks = 20, version 1, "block": (LineageId, BlockName) => BlockBytes;
    /// An entry of a namespace's list of conversations, by start time; only a key.
    Started = 22, version 1, "entry of the namespace's list": NamespacePlace => ();
    /// An entry of a namespace's list of conversations, by the time span of the last change; only a key.
    Updated = 23, version 1, "entry of the namespace's list by update": NamespacePlace => ();
    /// An entry of a recipient's list of conversations, by the time span of the last change; only a key.
    RecipientUpdated = 24, version 1, "entry of the recipient's list by update": ListPlace => ();
    /// A value of a conversation's state, by the lineage of its identity and the value's name.
    StateValues = 25, version 1, "state value": (LineageId, StateName) => Arc<StateValue>,
        checked by |(_, name), value| same("the name", name.0 == value.name);
}

impl Record {
    /// Returns the record that is derived from this one alone, for stores without other indexes.
    pub fn derived(&self) -> Option<(Key, Value)> {
        match self {
            Self::Utterances((lineage, sequence), utterance) => {
                let id = utterance.given_id()?;
                Some(pair::<GivenIds>(&(*lineage, id.into()), sequence))
            }
            Self::Outcomes(name, outcome) => Some(pair::<OutcomeAges>(&(outcome.time, name.clone()), &())),
            _ => None,
        }
    }
}

/// Fails unless a part of a value is the same as in its key.
fn same(part: &'static str, is_same: bool) -> Result<(), Fault> {
    match is_same {
        true => Ok(()),
        false => Err(Fault::wrong(part, "is not the one in the key")),
    }
}
