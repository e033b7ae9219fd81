//! The values of the smaller records.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use utterd_domain::{ConversationKey, Sequence};

/// A conversation that reads a lineage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineageReader {
    /// The conversation's name.
    pub conversation: ConversationKey,
    /// The last sequence that it reads in the lineage; 0 if it only has copies of the lineage's utterances.
    pub through: Sequence,
}

/// The bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockBytes(pub Vec<u8>);

// Derived, these would handle each byte by itself.
impl Serialize for BlockBytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for BlockBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(<&[u8]>::deserialize(from)?.to_vec()))
    }
}
