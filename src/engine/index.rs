//! The search indexes in memory, and what makes them.

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

/// Conversations that are expected to have an index.
const CACHE_ENTRIES: usize = 10_000;
/// The indexes of the conversations searched lately.
pub(super) struct Indexes {
    kept: Cache<LineageId, Entry, Bytes>,
    makers: Mutex<Makers>,
}

/// Makers for the next that is to be made: they know most words already.
#[derive(Default)]
struct Makers {
    free: Vec<IndexMaker>,
    /// How often what they know had to be forgotten.
    forgotten: u64,
}

#[derive(Clone)]
struct Entry {
    shared: SharedIndex,
    /// When text was last erased of what it is of.
    erased_at: Revision,
    bytes: u64,
}

/// An index that one search at a time brings up to date; what is searched is a copy, which shares its blocks. Who
/// waits for it holds up no thread.
pub(super) type SharedIndex = Arc<AsyncMutex<Index>>;

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

    /// The index of a lineage in which nothing was erased since `erased_at`; an empty one when none is kept.
    pub(super) fn of(&self, lineage: LineageId, erased_at: Revision) -> SharedIndex {
        let kept = self.kept.get(&lineage).filter(|entry| entry.erased_at == erased_at);
        kept.map_or_else(SharedIndex::default, |entry| entry.shared)
    }

    /// Keeps such an index, which takes so many bytes.
    pub(super) fn keep(&self, lineage: LineageId, erased_at: Revision, shared: SharedIndex, bytes: u64) {
        self.kept.insert(lineage, Entry { shared, erased_at, bytes });
    }

    /// Gives up an index, and all words that makers know: its text is gone from memory.
    pub(super) fn remove(&self, lineage: LineageId) {
        self.kept.remove(&lineage);
        let mut makers = self.makers.lock();
        *makers = Makers { free: Vec::new(), forgotten: makers.forgotten + 1 };
    }

    /// Does `work` with a maker that nobody else uses.
    pub(super) fn with_maker<T>(&self, work: impl FnOnce(&mut IndexMaker) -> T) -> T {
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
