//! A cache of what is held in memory for conversations, within a number of bytes.

use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use utterd_domain::LineageId;

/// The expected number of conversations.
const ENTRIES: usize = 10_000;

/// What is held for each of the conversations that were used last.
pub type WeighedCache<T> = Cache<LineageId, Weighed<T>, Bytes>;

/// What is held for a conversation, and its size.
#[derive(Clone)]
pub struct Weighed<T> {
    pub held: T,
    pub bytes: u64,
}

/// Weighs an entry by its size.
#[derive(Clone)]
pub struct Bytes;

impl<T> Weighter<LineageId, Weighed<T>> for Bytes {
    fn weight(&self, _: &LineageId, entry: &Weighed<T>) -> u64 {
        entry.bytes
    }
}

/// Creates a cache of at most `bytes`; the least used entries are evicted.
///
/// It has a single shard: each of several would refuse an entry larger than its share.
#[allow(clippy::expect_used)] // all required fields are set
pub fn weighed_cache<T: Clone>(bytes: u64) -> WeighedCache<T> {
    let options = OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(ENTRIES)
        .weight_capacity(bytes)
        .build()
        .expect("a capacity is given");
    Cache::with_options(options, Bytes, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
