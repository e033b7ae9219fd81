//! The embeddings in memory.

use std::{convert::Infallible, sync::Arc};

use parking_lot::RwLock;
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter, sync::Cache};

use super::held::Held;
use crate::domain::{Conversation, LineageId};

/// Conversations that are expected to have some.
const CACHE_ENTRIES: usize = 10_000;
/// One conversation has this part of all at most: a quarter.
const CONVERSATION_SHARE: u64 = 4;

/// The embeddings of the conversations searched lately.
pub(super) struct Vectors {
    cache: Cache<LineageId, Entry, Bytes>,
    most: u64,
}

#[derive(Clone)]
struct Entry {
    shared: SharedVectors,
    bytes: u64,
}

/// Those of one conversation.
pub(super) type SharedVectors = Arc<RwLock<Held>>;

#[derive(Clone)]
struct Bytes;

impl Weighter<LineageId, Entry> for Bytes {
    fn weight(&self, _: &LineageId, entry: &Entry) -> u64 {
        entry.bytes
    }
}

impl Vectors {
    /// Embeddings that take so many bytes at most; the least used go.
    #[allow(clippy::expect_used)] // the builder is given all that it asks for
    pub(super) fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            .estimated_items_capacity(CACHE_ENTRIES)
            .weight_capacity(bytes)
            // of several, each would hold a part of what one conversation may have
            .shards(1)
            .build()
            .expect("a capacity is given");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), Default::default());
        let cache = Cache::with_options(options, Bytes, hasher, lifecycle);
        Self { cache, most: bytes / CONVERSATION_SHARE }
    }

    /// Those of the conversation, if any are in memory.
    pub(super) fn get(&self, lineage: LineageId) -> Option<SharedVectors> {
        self.cache.get(&lineage).map(|entry| entry.shared)
    }

    /// Those of the texts that `state` stores, which may be none yet; `None` when some were erased or edited since.
    pub(super) fn of(&self, state: &Conversation) -> Option<SharedVectors> {
        let lineage = state.head.identity.lineage;
        let new = || {
            let held = Held::new(state);
            let bytes = held.memory_bytes();
            Ok::<_, Infallible>(Entry { shared: Arc::new(RwLock::new(held)), bytes })
        };
        let shared = match self.cache.get_or_insert_with(&lineage, new) {
            Ok(entry) => entry.shared,
            Err(never) => match never {},
        };
        if shared.read().is_of(state) {
            return Some(shared);
        }
        // what another process has erased is heard of late
        if !shared.read().is_newer(state) {
            self.cache.remove(&lineage);
        }
        None
    }

    /// Counts what those of a conversation take, unless they were given up since.
    pub(super) fn weigh(&self, lineage: LineageId, shared: &SharedVectors) {
        let bytes = shared.read().memory_bytes();
        let is_kept = self.get(lineage).is_some_and(|kept| Arc::ptr_eq(&kept, shared));
        if is_kept {
            // one that went meanwhile stays away
            let _ = self.cache.replace(lineage, Entry { shared: shared.clone(), bytes }, true);
        }
    }

    /// Whether those of a conversation take as much as they may.
    pub(super) fn are_full(&self, shared: &SharedVectors) -> bool {
        shared.read().memory_bytes() >= self.most
    }

    /// Gives up those of a conversation.
    pub(super) fn remove(&self, lineage: LineageId) {
        self.cache.remove(&lineage);
    }
}
