//! Any record.

#[cfg(test)]
use super::kind::pair;
#[cfg(test)]
use crate::store::durable::key_value::{Key, Value};

use super::{
    Active, BadRecord, Compactions, ConversationName, Descriptions, Dues, Ended, Endings, Fault, GivenIds,
    Heads, Kind, Links, Listed, Metas, OutcomeAges, Outcomes, Policies, Readers, Segments, Utterances,
    Waiting,
    kind::{decode, name, unreadable_key},
};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident),* $(,)?) => {
        /// A record of any kind: its key, and its value.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "records are looked at one by one, and not kept")]
        pub enum Record {
            $($(#[$doc])* $kind(<$kind as Kind>::Key, <$kind as Kind>::Value),)*
        }

        impl Record {
            /// The numbers of all kinds.
            pub const NUMBERS: &[u8] = &[$(<$kind as Kind>::NUMBER),*];

            /// Reads a record whose kind the key tells.
            pub fn read(key: &[u8], value: &[u8]) -> Result<Self, BadRecord> {
                match key.first() {
                    $(Some(&<$kind as Kind>::NUMBER) => {
                        decode::<$kind>(key, value).map(|(key, value)| Self::$kind(key, value))
                    })*
                    Some(&number) => Err(unreadable_key("record", key, Fault::NewerKind(number))),
                    None => Err(unreadable_key("record", key, Fault::wrong("the key", "is empty"))),
                }
            }

            /// The key and the value that it is stored as.
            #[cfg(test)]
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
    Metas,
    /// What never changes in a conversation's life.
    ConversationName,
    /// What changes in it with almost every change.
    Heads,
    /// Its limits.
    Policies,
    /// Its title and labels.
    Descriptions,
    /// A segment of its summary.
    Segments,
    /// An utterance.
    Utterances,
    /// Where an utterance is to which a client gave an id.
    GivenIds,
    /// An entry of a recipient's list of conversations.
    Listed,
    /// A recipient's active conversation.
    Active,
    /// What a named attempt of a call came to.
    Outcomes,
    /// When it did.
    OutcomeAges,
    /// Work that becomes due.
    Dues,
    /// That a group is there.
    Links,
    /// That a conversation reads a lineage of before a fork.
    Readers,
    /// How a conversation ended.
    Endings,
    /// An entry of a recipient's list of ended conversations.
    Ended,
    /// A compaction.
    Compactions,
    /// That a conversation waits for a model.
    Waiting,
}
