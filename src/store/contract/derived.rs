//! Data derived from a conversation's utterances, and stored with them.

use crate::domain::{Block, ConversationKey, Revision};

/// A kind of derived data. All of it can be derived again from what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derived {
    /// A part of the index that a search reads.
    Index,
    /// The vectors of the utterances.
    Embeddings,
}

/// The bytes stored for several blocks.
pub type DerivedBytes = Vec<(Block, Vec<u8>)>;

/// What was derived from one block of a conversation's utterances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedBlock {
    /// The conversation.
    pub conversation: ConversationKey,
    /// The kind.
    pub kind: Derived,
    /// The block of utterances that it was derived from, as far as they were stored. A store does not know
    /// whether more were appended to the block since: so either the block is complete, or the bytes say which
    /// utterances they cover.
    pub block: Block,
    /// [`Head::erased_at`](crate::domain::Head::erased_at) of the state that they were read in.
    pub erased_at: Revision,
    /// The bytes, which are opaque to a store.
    pub bytes: Vec<u8>,
}
