//! Data derived from a conversation's utterances, and stored with them.

use std::ops::RangeInclusive;

use crate::{Result, async_trait};
use utterd_domain::{Block, ConversationKey, Revision};

/// A store that also stores data derived from conversations.
///
/// By default, nothing is stored.
#[async_trait]
pub trait DerivedData: Send + Sync + 'static {
    /// Returns the stored data of a kind that was derived from these blocks of a conversation's utterances;
    /// ascending.
    ///
    /// - Blocks without stored data are left out, as is everything of an unknown conversation. Data stored by
    ///   [`Self::keep_derived`] can be lost at any time; callers then derive it again.
    /// - Once a commit has erased or edited an utterance, the result contains nothing of it: the commit
    ///   removes the data of the blocks that hold the utterance. A commit that appends, evicts, forgets
    ///   softly or restores leaves the data as it is. The data of a block can cover dropped utterances,
    ///   unless all utterances of the block were dropped.
    /// - The data is never torn, and never that of another block.
    /// - A fork has its own data. Deleting a conversation removes everything derived from it.
    /// - The caller limits how much it asks for.
    /// - By default, nothing is stored.
    async fn derived(
        &self,
        _key: &ConversationKey,
        _kind: Derived,
        _blocks: RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        Ok(Vec::new())
    }

    /// Stores data that was derived from a block of a conversation's utterances; returns whether it did.
    ///
    /// - Refused unless the conversation exists, its [`Head::erased_at`](utterd_domain::Head::erased_at) is
    ///   still the one that the data was derived at, and it has an utterance in the block. So data derived
    ///   from a text is never stored after the commit that erases the text.
    /// - Also refused while a lot is waiting to be written.
    /// - The call does not change the conversation: no new state, no hint, nothing that counts for a quota.
    /// - The data replaces what is stored for the kind and the block.
    /// - The data is less durable than a commit: a power loss can remove it, as a whole.
    /// - By default, always refused.
    async fn keep_derived(&self, _derived: DerivedBlock) -> Result<bool> {
        Ok(false)
    }
}

/// A kind of derived data. All of it can be derived again from the stored utterances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derived {
    /// A part of the index that a search reads.
    Index = 1,
    /// The vectors of the utterances.
    Embeddings,
}

impl Derived {
    /// Both kinds. Their numbers are those in the keys of records.
    pub const ALL: [Self; 2] = [Self::Index, Self::Embeddings];
}

/// The bytes stored for several blocks.
pub type DerivedBytes = Vec<(Block, Vec<u8>)>;

/// Data derived from one block of a conversation's utterances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedBlock {
    /// The conversation.
    pub conversation: ConversationKey,
    /// The kind.
    pub kind: Derived,
    /// The block of utterances. The data covers those that were stored when it was derived. A store does not
    /// know whether more were appended to the block since: so either the block is complete, or the bytes say
    /// which utterances they cover.
    pub block: Block,
    /// [`Head::erased_at`](utterd_domain::Head::erased_at) of the state from which the utterances were read.
    pub erased_at: Revision,
    /// The bytes, which are opaque to a store.
    pub bytes: Vec<u8>,
}
