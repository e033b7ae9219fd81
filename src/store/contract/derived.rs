//! Data derived from a conversation's utterances, and stored with them.

use std::{future::ready, ops::RangeInclusive};

use crate::{
    domain::{Block, ConversationKey, Revision},
    store::{BoxFuture, StoreError},
};

/// A store that also stores what was derived from conversations.
///
/// By default, nothing is stored.
pub trait DerivedData: Send + Sync + 'static {
    /// Returns what is stored of a kind that was derived from these blocks of a conversation's utterances;
    /// ascending.
    ///
    /// - Blocks without anything stored are left out, as is everything of an unknown conversation. What was
    ///   stored by [`Self::keep_derived`] can be lost at any time: it is then derived again.
    /// - It contains nothing of an utterance from the commit on that erased or edited it, which removes the
    ///   blocks that hold it. A commit that appends, evicts, forgets softly or restores leaves them as they
    ///   are. A block can contain what was dropped, unless it contains nothing else.
    /// - It is never torn, nor from another block.
    /// - A fork has its own. Deleting a conversation removes everything derived from it.
    /// - The caller limits how much it asks for.
    /// - By default, nothing is stored.
    fn derived<'a>(
        &'a self,
        _key: &'a ConversationKey,
        _kind: Derived,
        _blocks: RangeInclusive<Block>,
    ) -> BoxFuture<'a, Result<DerivedBytes, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Stores what was derived from a block of a conversation's utterances; returns whether it did.
    ///
    /// - Refused unless the conversation exists, its [`Head::erased_at`](crate::domain::Head::erased_at) is still the one that the data was
    ///   derived at, and it has an utterance of the block. So what was derived from a text is never stored
    ///   after the commit that erases the text.
    /// - Also refused while there is a lot else to write.
    /// - It does not change the conversation: no new state, no hint, nothing that counts for a quota.
    /// - It replaces what is stored for the kind and the block.
    /// - It is less durable than a commit: a power loss can remove it, as a whole.
    /// - By default, always refused.
    fn keep_derived(&self, _derived: DerivedBlock) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(ready(Ok(false)))
    }
}

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
