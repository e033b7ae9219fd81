//! Indexing conversations for searches: when one is first searched, and what is new at each search after.

use std::sync::Arc;

use crate::{
    domain::{Conversation, Ranges, Sequence, Utterance},
    engine::{Engine, EngineError, aside, index::SharedIndex},
};

/// More utterances are indexed aside.
const INDEX_ASIDE: usize = 200;

impl Engine {
    /// An index of all that `state` stores. It may hold more: what is newer than `state`, and
    /// what is no longer stored.
    pub(super) async fn index(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
    ) -> Result<SharedIndex, EngineError> {
        let (lineage, erased_at) = (state.head.identity.lineage, state.head.erased_at);
        let shared = self.indexes.of(lineage, erased_at);
        let newest = shared.read().await.newest().map_or(Sequence::FIRST, |newest| Sequence(newest).next());
        let missing = self.stored(state, &Ranges::of(newest, state.head.next)).await?;
        if !missing.is_empty() {
            let bytes = extend(&shared, state, missing).await;
            self.indexes.keep(lineage, erased_at, shared.clone(), bytes);
        }
        self.give_up_if_erased(state).await?;
        Ok(shared)
    }

    /// An index made from a state that text was erased from meanwhile is not kept.
    async fn give_up_if_erased(self: &Arc<Self>, state: &Conversation) -> Result<(), EngineError> {
        let now = self.published(state.key()).await?;
        if now.is_none_or(|now| now.head.erased_at != state.head.erased_at) {
            self.indexes.remove(state.head.identity.lineage);
        }
        Ok(())
    }
}

/// Adds what is missing; answers the bytes that the index takes then.
async fn extend(shared: &SharedIndex, state: &Arc<Conversation>, missing: Vec<Arc<Utterance>>) -> u64 {
    let long = missing.len() > INDEX_ASIDE
        || missing.iter().map(|u| u.content.len()).sum::<usize>() > INDEX_ASIDE * 200;
    let mut index = shared.write().await;
    aside(long, || {
        let newest = index.newest().unwrap_or(0);
        let new = missing.iter().filter(|utterance| utterance.sequence.get() > newest);
        index.extend(new.map(|utterance| (utterance.sequence.get(), &*utterance.content)));
        let stored = state.head.stored as usize;
        if index.len() > stored + stored / 4 {
            index.retain(|sequence| state.stores(Sequence(sequence)) || sequence >= state.head.next.get());
        }
        index.heap_bytes() as u64
    })
}
