//! The lanes in memory: a cache of bounded size, so that a process holds the conversations in
//! use and not every one that it ever touched.
//!
//! A lane that someone holds is never evicted: those who decide, those who wait for a flush and
//! those who watch hold theirs. So a conversation never has two lanes in use.

use std::{convert::Infallible, sync::Arc};

use quick_cache::{DefaultHashBuilder, Lifecycle, OptionsBuilder, Weighter, sync::Cache};

use crate::{
    domain::ConversationKey,
    engine::{
        footprint,
        lane::{Lane, Pending},
    },
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

/// The lanes, by conversation.
pub(super) struct Lanes {
    cache: Cache<ConversationKey, Cached, Bytes, DefaultHashBuilder, Held>,
    /// The most that a lane is charged, half a shard: a conversation that takes more than it is
    /// charged is dear to hold, but dearer to load for each call.
    most: u64,
}

#[derive(Clone)]
struct Cached {
    lane: Arc<Lane>,
    /// What it is charged. It stands here and not in the lane, because the weight of an entry
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

/// Keeps a lane that someone beside the cache holds. Lanes are handed out under the lock that
/// evictions take, so that none is handed out while it is being evicted.
#[derive(Clone)]
struct Held;

impl Lifecycle<ConversationKey, Cached> for Held {
    /// What was evicted, to be dropped once the lock is released.
    type RequestState = Vec<Cached>;

    fn is_pinned(&self, _: &ConversationKey, cached: &Cached) -> bool {
        Arc::strong_count(&cached.lane) > 1
    }

    fn on_evict(&self, evicted: &mut Vec<Cached>, _: ConversationKey, cached: Cached) {
        evicted.push(cached);
    }
}

impl Lanes {
    /// Lanes that take at most about `limit` bytes, beside those that are held.
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
        let cache = Cache::with_options(options, Bytes, DefaultHashBuilder::default(), Held);
        Self { cache, most: limit / shards / 2 }
    }

    /// The lane of a conversation, if it is in memory.
    pub(super) fn get(&self, key: &ConversationKey) -> Option<Arc<Lane>> {
        self.cache.get(key).map(|cached| cached.lane)
    }

    /// The lane of a conversation; a new one when none is in memory.
    pub(super) fn lane(&self, key: &ConversationKey) -> Arc<Lane> {
        let new =
            || Ok::<_, Infallible>(Cached { lane: Arc::new(Lane::new(key.clone())), bytes: footprint::LANE });
        match self.cache.get_or_insert_with(key, new) {
            Ok(cached) => cached.lane,
            Err(never) => match never {},
        }
    }

    /// Charges a lane what it takes now, if that is far from what it is charged. The lane is
    /// held, and in use.
    pub(super) fn charge(&self, lane: &Arc<Lane>, pending: &mut Pending) {
        let Some(bytes) = pending.new_charge() else { return };
        let cached = Cached { lane: lane.clone(), bytes: bytes.min(self.most) };
        if self.cache.replace(lane.key.clone(), cached, true).is_ok() {
            pending.charged(bytes);
        }
    }

    /// Removes a lane that holds nothing: its conversation does not exist.
    pub(super) fn discard_unused(&self, lane: &Lane, pending: &mut Pending) {
        if !pending.removed && lane.is_unused(pending) {
            pending.removed = true;
            self.cache.remove(&lane.key);
        }
    }
}

#[cfg(test)]
mod tests;
