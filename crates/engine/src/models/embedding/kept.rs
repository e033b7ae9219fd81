//! Stored embeddings, kept next to the utterances so that each is paid for only once.

use std::sync::Arc;

use super::{block, embeddings::Embeddings, held::stored, vectors::SharedVectors};
use crate::{Engine, Result};
use utterd_domain::{Block, Conversation};
use utterd_store::{Derived, DerivedBlock};

impl Engine {
    /// Reads the newest `most` blocks of a conversation's stored embeddings, unless all were read already.
    pub(super) async fn read_kept(
        &self,
        embeddings: &Embeddings,
        state: &Conversation,
        shared: &SharedVectors,
        most: usize,
    ) -> Result<()> {
        if shared.read().is_read() || !self.store.capabilities().derived {
            return Ok(());
        }
        let blocks: Vec<Block> = Block::holding(&stored(state)).collect();
        for block in blocks.iter().rev().take(most) {
            if embeddings.vectors.are_full(shared) {
                break;
            }
            let read = self.store.derived(state.key(), Derived::Embeddings, *block..=*block).await?;
            let kept =
                read.first().and_then(|(_, bytes)| block::decode(embeddings.embedder.name(), *block, bytes));
            shared.write().take_kept(state, *block, kept.unwrap_or_default());
        }
        if blocks.len() <= most {
            shared.write().read_all();
        }
        embeddings.vectors.weigh(state.head.identity.lineage, shared);
        Ok(())
    }

    /// Stores the blocks that have gained enough embeddings since they were last stored: at least `least`,
    /// and at least an eighth.
    pub(super) async fn keep_some(
        &self,
        embeddings: &Embeddings,
        state: &Arc<Conversation>,
        shared: &SharedVectors,
        least: usize,
    ) -> Result<()> {
        if !self.store.capabilities().derived {
            return Ok(());
        }
        let due = shared.read().due(least);
        for block in due {
            let encoded = shared.read().encoded(state, block, embeddings.embedder.name());
            let Some((count, bytes)) = encoded else { continue };
            let (conversation, kind) = (state.key().clone(), Derived::Embeddings);
            let erased_at = state.head.erased_at;
            let kept = self.store.keep_derived(DerivedBlock { conversation, kind, block, erased_at, bytes });
            if kept.await? {
                shared.write().was_kept(state, block, count);
            }
        }
        Ok(())
    }
}
