//! What is derived from a conversation's utterances, and kept beside them.

use crate::domain::{Block, ConversationKey, Revision};

/// What is derived. All of it can be made anew from what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derived {
    /// A part of the index that a search reads.
    Index,
    /// The vectors of the utterances.
    Embeddings,
}

/// What is kept of several blocks: the bytes of each.
pub type DerivedBytes = Vec<(Block, Vec<u8>)>;

/// What was derived from one block of a conversation's utterances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedBlock {
    /// The conversation.
    pub conversation: ConversationKey,
    /// What it is.
    pub kind: Derived,
    /// The utterances that it was derived from: those with these sequences, as far as they were stored. Nothing tells
    /// a store that more were said in the block since: so it is a block that is complete, or its bytes tell which
    /// utterances they are of.
    pub block: Block,
    /// [`Head::erased_at`](crate::domain::Head::erased_at) of the state that they were read in.
    pub erased_at: Revision,
    /// Its bytes, which say nothing to a store.
    pub bytes: Vec<u8>,
}
