//! The search indexes in memory, and the makers that build them.

use std::{num::NonZeroUsize, sync::Arc, thread::available_parallelism};

use parking_lot::Mutex;
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};
use tokio::sync::Mutex as AsyncMutex;

use crate::domain::{
    LineageId, Revision,
    recall::{Index, IndexMaker},
};

/// The expected number of conversations with an index.
const CACHE_ENTRIES: usize = 10_000;
/// The indexes of recently searched conversations.
pub struct Indexes {
    kept: Cache<LineageId, Entry, Bytes>,
    makers: Mutex<Makers>,
}

/// Index makers to reuse, because they already have most words.
#[derive(Default)]
struct Makers {
    free: Vec<IndexMaker>,
    /// How often the makers' words had to be dropped.
    forgotten: u64,
}

#[derive(Clone)]
struct Entry {
    shared: SharedIndex,
    /// The revision of the last erasure of text in its conversation.
    erased_at: Revision,
    bytes: u64,
}

/// An index, which one search at a time brings up to date. Searches read a copy, which shares its blocks.
/// Waiting for the lock blocks no thread.
pub type SharedIndex = Arc<AsyncMutex<Index>>;

#[derive(Clone)]
struct Bytes;

impl Weighter<LineageId, Entry> for Bytes {
    fn weight(&self, _: &LineageId, entry: &Entry) -> u64 {
        entry.bytes
    }
}

impl Indexes {
    /// Creates a cache of at most `bytes`; the least used indexes are evicted, and rebuilt when needed.
    ///
    /// It has a single shard: each of several would refuse an index larger than its share.
    pub fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(CACHE_ENTRIES)
            .weight_capacity(bytes)
            .build();
        let kept = match options {
            Ok(options) => Cache::with_options(
                options,
                Bytes,
                DefaultHashBuilder::default(),
                DefaultLifecycle::default(),
            ),
            Err(_) => Cache::with_weighter(CACHE_ENTRIES, bytes, Bytes),
        };
        Self { kept, makers: Mutex::default() }
    }

    /// Returns the index of a lineage, if its text was last erased at `erased_at`; otherwise an empty one.
    pub fn of(&self, lineage: LineageId, erased_at: Revision) -> SharedIndex {
        let kept = self.kept.get(&lineage).filter(|entry| entry.erased_at == erased_at);
        kept.map_or_else(SharedIndex::default, |entry| entry.shared)
    }

    /// Keeps an index of size `bytes`.
    pub fn keep(&self, lineage: LineageId, erased_at: Revision, shared: SharedIndex, bytes: u64) {
        self.kept.insert(lineage, Entry { shared, erased_at, bytes });
    }

    /// Drops an index, and all words the makers have, so that erased text leaves memory.
    pub fn remove(&self, lineage: LineageId) {
        self.kept.remove(&lineage);
        let mut makers = self.makers.lock();
        *makers = Makers { free: Vec::new(), forgotten: makers.forgotten + 1 };
    }

    /// Does `work` with a maker that no other task is using.
    pub fn with_maker<T>(&self, work: impl FnOnce(&mut IndexMaker) -> T) -> T {
        let most = available_parallelism().map_or(1, NonZeroUsize::get);
        let (maker, forgotten) = {
            let mut makers = self.makers.lock();
            (makers.free.pop(), makers.forgotten)
        };
        let mut maker = maker.unwrap_or_default();
        let made = work(&mut maker);
        let mut makers = self.makers.lock();
        if makers.forgotten == forgotten && makers.free.len() < most {
            makers.free.push(maker);
        }
        made
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
