//! The embeddings in memory.

use std::{convert::Infallible, sync::Arc};

use parking_lot::RwLock;

use super::held::Held;
use crate::weighed::{HeldCache, Weighed, held_cache};
use utterd_domain::{Conversation, LineageId};

/// The largest part of the cache that one conversation may take: a quarter.
const CONVERSATION_SHARE: u64 = 4;

/// The embeddings of recently searched conversations.
pub(super) struct Vectors {
    cache: HeldCache<SharedVectors>,
    most: u64,
}

/// The embeddings of one conversation.
pub(super) type SharedVectors = Arc<RwLock<Held>>;

impl Vectors {
    /// Creates a cache of at most `bytes`; the least used embeddings are evicted.
    pub(super) fn new(bytes: u64) -> Self {
        Self { cache: held_cache(bytes), most: bytes / CONVERSATION_SHARE }
    }

    /// Returns the embeddings of the conversation, if any are in memory.
    pub(super) fn get(&self, lineage: LineageId) -> Option<SharedVectors> {
        self.cache.get(&lineage).map(|entry| entry.held)
    }

    /// Returns the embeddings of the texts in `state`, possibly none yet; `None` if a text was erased or
    /// edited between the embedded state and `state`.
    pub(super) fn of(&self, state: &Conversation) -> Option<SharedVectors> {
        let lineage = state.head.identity.lineage;
        let new = || {
            let held = Held::new(state);
            let bytes = held.memory_bytes();
            Ok::<_, Infallible>(Weighed { held: Arc::new(RwLock::new(held)), bytes })
        };
        let Ok(Weighed { held: shared, .. }) = self.cache.get_or_insert_with(&lineage, new);
        if shared.read().is_of(state) {
            return Some(shared);
        }
        // erasures by another process may be noticed late
        if !shared.read().is_newer(state) {
            self.cache.remove(&lineage);
        }
        None
    }

    /// Updates the size of a conversation's embeddings, unless they were dropped since.
    pub(super) fn weigh(&self, lineage: LineageId, shared: &SharedVectors) {
        let bytes = shared.read().memory_bytes();
        let is_kept = self.get(lineage).is_some_and(|kept| Arc::ptr_eq(&kept, shared));
        if is_kept {
            // an entry evicted meanwhile is not added back
            let _ = self.cache.replace(lineage, Weighed { held: shared.clone(), bytes }, true);
        }
    }

    /// Whether the embeddings of a conversation take as much memory as allowed.
    pub(super) fn are_full(&self, shared: &SharedVectors) -> bool {
        shared.read().memory_bytes() >= self.most
    }

    /// Drops the embeddings of a conversation.
    pub(super) fn remove(&self, lineage: LineageId) {
        self.cache.remove(&lineage);
    }
}
