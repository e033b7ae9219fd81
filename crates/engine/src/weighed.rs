//! Caches of what is held in memory for conversations, within a number of bytes.

use std::hash::Hash;

use quick_cache::{
    DefaultHashBuilder, Lifecycle, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use utterd_domain::LineageId;

/// The expected number of conversations.
const ENTRIES: usize = 10_000;

/// A cache of what is held for each of the conversations that were used last.
pub type WeighedCache<K, T, L> = Cache<K, Weighed<T>, Bytes, DefaultHashBuilder, L>;

/// What is held for each of the conversations that were used last.
pub type HeldCache<T> = WeighedCache<LineageId, T, DefaultLifecycle<LineageId, Weighed<T>>>;

/// What is held for a conversation, and its size. It is stored here, because the weight of an entry must not change
/// while the entry is in the cache.
#[derive(Clone)]
pub struct Weighed<T> {
    pub held: T,
    pub bytes: u64,
}

/// Weighs an entry by its size.
#[derive(Clone)]
pub struct Bytes;

impl<K, T> Weighter<K, Weighed<T>> for Bytes {
    fn weight(&self, _: &K, entry: &Weighed<T>) -> u64 {
        entry.bytes
    }
}

/// Creates a cache of at most `bytes`; the least used entries are evicted. Each of several shards refuses an entry
/// larger than its share.
#[allow(clippy::expect_used)] // all required fields are set
pub fn weighed_cache<K: Eq + Hash, T: Clone, L: Lifecycle<K, Weighed<T>> + Clone>(
    bytes: u64,
    shards: usize,
    expected: usize,
    lifecycle: L,
) -> WeighedCache<K, T, L> {
    let options = OptionsBuilder::new()
        .shards(shards)
        .estimated_items_capacity(expected)
        .weight_capacity(bytes)
        .build()
        .expect("a capacity is given");
    Cache::with_options(options, Bytes, DefaultHashBuilder::default(), lifecycle)
}

/// Creates a cache of at most `bytes`, with a single shard.
pub fn held_cache<T: Clone>(bytes: u64) -> HeldCache<T> {
    weighed_cache(bytes, 1, ENTRIES, DefaultLifecycle::default())
}
