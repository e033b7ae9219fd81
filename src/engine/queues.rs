//! The queues in memory: a cache of bounded size, so that a process holds the conversations in
//! use and not every one that it ever touched.
//!
//! A queue that someone uses is never evicted: those who decide, those who wait and those who watch
//! refer to theirs. So a conversation never has two queues in use.

use std::{convert::Infallible, sync::Arc};

use quick_cache::{DefaultHashBuilder, Lifecycle, OptionsBuilder, Weighter, sync::Cache};

use crate::{
    domain::ConversationKey,
    engine::{footprint, queue::Queue},
};

/// Bytes of the cache for each of its shards.
const SHARD_BYTES: u64 = 64 << 20;
/// Shards at most.
const MAX_SHARDS: u64 = 256;
/// More than any machine has: sums of it do not overflow.
const UNLIMITED: u64 = 1 << 50;
/// Bytes that a conversation is expected to take.
const EXPECTED_BYTES: u64 = 16 << 10;
/// Conversations that room is made for from the start, at most.
const MAX_EXPECTED: u64 = 1 << 15;

/// The queues, by conversation.
pub(super) struct Queues {
    cache: Cache<ConversationKey, Cached, Bytes, DefaultHashBuilder, InUse>,
    /// The most that a queue is charged, half a shard: a conversation that takes more than it is
    /// charged is dear to hold, but dearer to load for each call.
    most: u64,
}

#[derive(Clone)]
struct Cached {
    queue: Arc<Queue>,
    /// What it is charged. It stands here and not in the queue, because the weight of an entry
    /// must not change while the entry is in the cache.
    bytes: u64,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<ConversationKey, Cached> for Bytes {
    fn weight(&self, _: &ConversationKey, cached: &Cached) -> u64 {
        cached.bytes
    }
}

/// Keeps a queue that someone beside the cache refers to. Queues are handed out under the lock that
/// evictions take, so that none is handed out while it is being evicted.
#[derive(Clone)]
struct InUse;

impl Lifecycle<ConversationKey, Cached> for InUse {
    /// What was evicted, to be dropped once the lock is released.
    type RequestState = Vec<Cached>;

    fn is_pinned(&self, _: &ConversationKey, cached: &Cached) -> bool {
        Arc::strong_count(&cached.queue) > 1
    }

    fn on_evict(&self, evicted: &mut Vec<Cached>, _: ConversationKey, cached: Cached) {
        evicted.push(cached);
    }
}

impl Queues {
    /// Queues that take at most about `limit` bytes, beside those in use.
    #[allow(clippy::expect_used)] // the builder is given all that it asks for
    pub(super) fn new(limit: u64) -> Self {
        let limit = limit.min(UNLIMITED);
        let shards = (limit / SHARD_BYTES).clamp(1, MAX_SHARDS);
        let options = OptionsBuilder::new()
            .estimated_items_capacity((limit / EXPECTED_BYTES).min(MAX_EXPECTED) as usize)
            .weight_capacity(limit)
            .shards(shards as usize)
            .build()
            .expect("a capacity is given");
        let cache = Cache::with_options(options, Bytes, DefaultHashBuilder::default(), InUse);
        Self { cache, most: limit / shards / 2 }
    }

    /// The queue of a conversation, if it is in memory.
    pub(super) fn get(&self, key: &ConversationKey) -> Option<Arc<Queue>> {
        self.cache.get(key).map(|cached| cached.queue)
    }

    /// The queue of a conversation; a new one when none is in memory.
    pub(super) fn of(&self, key: &ConversationKey) -> Arc<Queue> {
        let new = || {
            Ok::<_, Infallible>(Cached { queue: Arc::new(Queue::new(key.clone())), bytes: footprint::QUEUE })
        };
        match self.cache.get_or_insert_with(key, new) {
            Ok(cached) => cached.queue,
            Err(never) => match never {},
        }
    }

    /// Tells those who watch any conversation that there may be something new.
    pub(super) fn tell_all(&self) {
        self.cache.iter().for_each(|(_, cached)| cached.queue.tell());
    }

    /// Charges a queue what it takes now, if that is far from what it is charged. Its caller holds it.
    pub(super) fn charge(&self, queue: &Arc<Queue>) {
        let Some(bytes) = queue.new_charge() else { return };
        let cached = Cached { queue: queue.clone(), bytes: bytes.min(self.most) };
        if self.cache.replace(queue.key.clone(), cached, true).is_ok() {
            queue.charged(bytes);
        }
    }

    /// Removes a queue that was let go, if its conversation does not exist.
    pub(super) fn discard_unused(&self, queue: &Queue) {
        if queue.discard() {
            self.cache.remove(&queue.key);
        }
    }
}

#[cfg(test)]
mod tests;
