//! The search indexes: built when a conversation is first searched, extended with what is new
//! at each search after.

use std::sync::Arc;

use parking_lot::RwLock;
use quick_cache::{Weighter, sync::Cache};

use crate::{
    domain::{Conversation, LineageId, Ranges, Revision, Sequence, Utterance, recall::Index},
    engine::{Engine, EngineError, aside},
};

/// Bytes that all indexes together take at most; the least used are built anew when needed.
const CACHE_BYTES: u64 = 256 << 20;
/// Conversations that are expected to have an index.
const CACHE_ENTRIES: usize = 10_000;
/// So many utterances are indexed on the thread that serves the call; more, beside it.
const INDEX_ASIDE: usize = 200;

/// The indexes of the conversations searched lately.
pub(super) struct Indexes(Cache<LineageId, Entry, Bytes>);

#[derive(Clone)]
struct Entry {
    shared: SharedIndex,
    bytes: u64,
}

/// An index that several searches may read at once.
pub(super) type SharedIndex = Arc<RwLock<Indexed>>;

/// An index, and the state that it is of.
pub(super) struct Indexed {
    pub(super) index: Index,
    erased_at: Revision,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<LineageId, Entry> for Bytes {
    fn weight(&self, _: &LineageId, entry: &Entry) -> u64 {
        entry.bytes
    }
}

impl Default for Indexes {
    fn default() -> Self {
        Self(Cache::with_weighter(CACHE_ENTRIES, CACHE_BYTES, Bytes))
    }
}

impl Indexes {
    /// Gives up an index: its text is gone from memory.
    pub(super) fn remove(&self, lineage: LineageId) {
        self.0.remove(&lineage);
    }
}

impl Engine {
    /// An index of all that `state` stores. It may hold more: what is newer than `state`, and
    /// what is no longer stored.
    pub(super) async fn index(&self, state: &Arc<Conversation>) -> Result<SharedIndex, EngineError> {
        let (lineage, erased_at) = (state.head.identity.lineage, state.head.erased_at);
        let kept = self.indexes.0.get(&lineage).filter(|entry| entry.shared.read().erased_at == erased_at);
        let shared = match &kept {
            Some(entry) => entry.shared.clone(),
            None => Arc::new(RwLock::new(Indexed { index: Index::new(), erased_at })),
        };
        let newest = shared.read().index.newest().map_or(Sequence::FIRST, |newest| Sequence(newest).next());
        let missing = self.stored(state, &Ranges::of(newest, state.head.next)).await?;
        if !missing.is_empty() {
            let bytes = extend(&shared, state, missing).await?;
            self.indexes.0.insert(lineage, Entry { shared: shared.clone(), bytes });
        }
        self.give_up_if_erased(state).await?;
        Ok(shared)
    }

    /// An index made from a state that text was erased from meanwhile is not kept.
    async fn give_up_if_erased(&self, state: &Conversation) -> Result<(), EngineError> {
        let now = self.published(state.key()).await?;
        if now.is_none_or(|now| now.head.erased_at != state.head.erased_at) {
            self.indexes.remove(state.head.identity.lineage);
        }
        Ok(())
    }
}

/// Adds what is missing; answers the bytes that the index takes then.
async fn extend(
    shared: &SharedIndex,
    state: &Arc<Conversation>,
    missing: Vec<Arc<Utterance>>,
) -> Result<u64, EngineError> {
    let long = missing.len() > INDEX_ASIDE
        || missing.iter().map(|u| u.content.len()).sum::<usize>() > INDEX_ASIDE * 200;
    let (shared, state) = (shared.clone(), state.clone());
    let work = move || {
        let mut indexed = shared.write();
        let index = &mut indexed.index;
        let newest = index.newest().unwrap_or(0);
        let new = missing.iter().filter(|utterance| utterance.sequence.get() > newest);
        index.extend(new.map(|utterance| (utterance.sequence.get(), &*utterance.content)));
        let stored = state.head.stored as usize;
        if index.len() > stored + stored / 4 {
            index.retain(|sequence| state.stores(Sequence(sequence)) || sequence >= state.head.next.get());
        }
        index.heap_bytes() as u64
    };
    aside(long, work).await
}
