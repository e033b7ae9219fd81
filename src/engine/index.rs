//! The search indexes in memory.

use std::sync::Arc;

use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use tokio::sync::Mutex;

use crate::domain::{LineageId, Revision, recall::Index};

/// Conversations that are expected to have an index.
const CACHE_ENTRIES: usize = 10_000;
/// The indexes of the conversations searched lately.
pub(super) struct Indexes(Cache<LineageId, Entry, Bytes>);

#[derive(Clone)]
struct Entry {
    shared: SharedIndex,
    /// When text was last erased of what it is of.
    erased_at: Revision,
    bytes: u64,
}

/// An index that one search at a time brings up to date; what is searched is a copy, which shares its blocks. Who
/// waits for it holds up no thread.
pub(super) type SharedIndex = Arc<Mutex<Index>>;

#[derive(Clone)]
struct Bytes;

impl Weighter<LineageId, Entry> for Bytes {
    fn weight(&self, _: &LineageId, entry: &Entry) -> u64 {
        entry.bytes
    }
}

impl Indexes {
    /// Indexes that together take at most so many bytes; the least used are built anew when needed.
    ///
    /// One part has all of them: of several, each would refuse what is larger than its share.
    pub(super) fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(CACHE_ENTRIES)
            .weight_capacity(bytes)
            .build();
        Self(match options {
            Ok(options) => Cache::with_options(
                options,
                Bytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            Err(_) => Cache::with_weighter(CACHE_ENTRIES, bytes, Bytes),
        })
    }

    /// The index of a lineage in which nothing was erased since `erased_at`; an empty one when none is kept.
    pub(super) fn of(&self, lineage: LineageId, erased_at: Revision) -> SharedIndex {
        let kept = self.0.get(&lineage).filter(|entry| entry.erased_at == erased_at);
        kept.map_or_else(SharedIndex::default, |entry| entry.shared)
    }

    /// Keeps such an index, which takes so many bytes.
    pub(super) fn keep(&self, lineage: LineageId, erased_at: Revision, shared: SharedIndex, bytes: u64) {
        self.0.insert(lineage, Entry { shared, erased_at, bytes });
    }

    /// Gives up an index: its text is gone from memory.
    pub(super) fn remove(&self, lineage: LineageId) {
        self.0.remove(&lineage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_fits_is_kept() {
        let indexes = Indexes::new(1_000);
        let lineage = LineageId([7; 16]);
        let shared = SharedIndex::default();
        indexes.keep(lineage, Revision::NONE, shared.clone(), 900);
        assert!(Arc::ptr_eq(&indexes.of(lineage, Revision::NONE), &shared));
        assert!(!Arc::ptr_eq(&indexes.of(lineage, Revision(1)), &shared), "text was erased since");
        indexes.remove(lineage);
        assert!(!Arc::ptr_eq(&indexes.of(lineage, Revision::NONE), &shared));
    }
}
