//! Data derived from blocks of a conversation's utterances, and the lists of these blocks.

use crate::{
    domain::{LineageId, Ranges, Revision},
    store::Derived,
};

use super::{
    BlockName, Fault,
    field::{Field, Message, message},
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
};

/// The bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockBytes(pub Vec<u8>);

impl RecordValue<(LineageId, BlockName)> for BlockBytes {
    fn room(&self) -> usize {
        self.0.len() + 8
    }

    fn write(&self, _: &(LineageId, BlockName), to: &mut Fields<'_>) {
        to.put(1, Stored::Bytes(&self.0));
    }

    fn read(_: &(LineageId, BlockName), from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self(from.one(1).bytes("the block")?.to_vec()))
    }
}

/// The stored blocks of a conversation. Valid only while the conversation's head has the same `erased_at`: a
/// program that does not know about blocks does not remove them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    /// [`Head::erased_at`](crate::domain::Head::erased_at).
    pub erased_at: Revision,
    /// The sequences of the blocks of an index.
    pub index: Ranges,
    /// The sequences of the blocks of embeddings.
    pub embeddings: Ranges,
}

impl BlockList {
    /// Returns each kind with the sequences of its blocks.
    pub fn kinds(&mut self) -> [(Derived, &mut Ranges); 2] {
        [(Derived::Index, &mut self.index), (Derived::Embeddings, &mut self.embeddings)]
    }

    /// Returns the sequences of the blocks of a kind.
    pub fn of(&mut self, kind: Derived) -> &mut Ranges {
        match kind {
            Derived::Index => &mut self.index,
            Derived::Embeddings => &mut self.embeddings,
        }
    }
}

message! {
    BlockList {
        1 erased_at: "the revision that erased",
        2 index: "the blocks of the index",
        3 embeddings: "the blocks of embeddings",
    }
}
