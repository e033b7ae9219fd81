//! The search indexes in memory, and the makers that build them.

use std::{num::NonZeroUsize, sync::Arc, thread::available_parallelism};

use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::weighed::{HeldCache, Weighed, held_cache};
use utterd_domain::{
    LineageId, Revision,
    recall::{Index, IndexMaker},
};

/// The indexes of recently searched conversations.
pub struct Indexes {
    kept: HeldCache<Entry>,
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
}

/// An index, which one search at a time brings up to date. Searches read a copy, which shares its blocks.
/// Waiting for the lock blocks no thread.
pub type SharedIndex = Arc<AsyncMutex<Index>>;

impl Indexes {
    /// Creates a cache of at most `bytes`; the least used indexes are evicted, and rebuilt when needed.
    pub fn new(bytes: u64) -> Self {
        Self { kept: held_cache(bytes), makers: Mutex::default() }
    }

    /// Returns the index of a lineage, if its text was last erased at `erased_at`; otherwise an empty one.
    pub fn of(&self, lineage: LineageId, erased_at: Revision) -> SharedIndex {
        let kept = self.kept.get(&lineage).map(|entry| entry.held).filter(|kept| kept.erased_at == erased_at);
        kept.map_or_else(SharedIndex::default, |kept| kept.shared)
    }

    /// Keeps an index of size `bytes`.
    pub fn keep(&self, lineage: LineageId, erased_at: Revision, shared: SharedIndex, bytes: u64) {
        self.kept.insert(lineage, Weighed { held: Entry { shared, erased_at }, bytes });
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
