//! The queues in memory: a bounded cache, so a process holds only the conversations in use, not every one it
//! ever touched.
//!
//! A queue in use is never evicted: anyone who decides, waits or watches holds a reference to it. So a
//! conversation never has two queues in use.

use std::{convert::Infallible, sync::Arc};

use quick_cache::Lifecycle;

use crate::{
    lane::queue::{Published, QUEUE_BYTES, Queue},
    weighed::{Weighed, WeighedCache, weighed_cache},
};
use utterd_domain::ConversationKey;

/// Bytes per shard of the cache.
const SHARD_BYTES: u64 = 64 << 20;
/// The maximum number of shards.
const MAX_SHARDS: u64 = 256;
/// More memory than any machine has, yet sums of it do not overflow.
const UNLIMITED: u64 = 1 << 50;
/// The expected size of a conversation in bytes.
const EXPECTED_BYTES: u64 = 16 << 10;
/// The maximum number of conversations to preallocate room for.
const MAX_EXPECTED: u64 = 1 << 15;

/// The queues, by conversation.
pub struct Queues {
    cache: WeighedCache<ConversationKey, Arc<Queue>, InUse>,
    /// The most that a queue is charged, half a shard: a conversation larger than that is expensive to hold,
    /// but more expensive to load for each call.
    most: u64,
}

/// A queue in the cache, and the bytes that it is charged.
type Cached = Weighed<Arc<Queue>>;

/// Keeps a queue that is referenced from outside the cache. Queues are handed out under the lock that evictions
/// hold, so none is handed out while it is being evicted.
#[derive(Clone)]
struct InUse;

impl Lifecycle<ConversationKey, Cached> for InUse {
    /// The evicted queues, dropped once the lock is released.
    type RequestState = Vec<Cached>;

    fn is_pinned(&self, _: &ConversationKey, cached: &Cached) -> bool {
        Arc::strong_count(&cached.held) > 1
    }

    fn on_evict(&self, evicted: &mut Vec<Cached>, _: ConversationKey, cached: Cached) {
        evicted.push(cached);
    }
}

impl Queues {
    /// Creates a cache of at most about `limit` bytes, not counting the queues in use.
    pub fn new(limit: u64) -> Self {
        let limit = limit.min(UNLIMITED);
        let shards = (limit / SHARD_BYTES).clamp(1, MAX_SHARDS);
        let expected = (limit / EXPECTED_BYTES).min(MAX_EXPECTED);
        let cache = weighed_cache(limit, shards as usize, expected as usize, InUse);
        Self { cache, most: limit / shards / 2 }
    }

    /// Returns the number of conversations in memory, and the bytes that they are charged.
    pub fn size(&self) -> (usize, u64) {
        (self.cache.len(), self.cache.weight())
    }

    /// Returns the queue of a conversation, if it is in memory.
    pub fn get(&self, key: &ConversationKey) -> Option<Arc<Queue>> {
        self.cache.get(key).map(|cached| cached.held)
    }

    /// Returns the queue of a conversation, creating it if it is not in memory.
    pub fn of(&self, key: &ConversationKey) -> Arc<Queue> {
        let new =
            || Ok::<_, Infallible>(Cached { held: Arc::new(Queue::new(key.clone())), bytes: QUEUE_BYTES });
        let Ok(cached) = self.cache.get_or_insert_with(key, new);
        cached.held
    }

    /// Charges a queue its current size, if that differs much from its charge. The caller must hold the queue.
    pub fn charge(&self, queue: &Arc<Queue>) {
        let Some(bytes) = queue.new_charge() else { return };
        let cached = Cached { held: queue.clone(), bytes: bytes.min(self.most) };
        if self.cache.replace(queue.key.clone(), cached, true).is_ok() {
            queue.charged(bytes);
        }
    }

    /// Removes a queue whose conversation does not exist, if only the caller uses it: queues are handed out under
    /// the lock that this takes, so nobody gets it meanwhile.
    pub fn discard_unused(&self, queue: &Arc<Queue>) {
        if matches!(queue.published(), Published::Absent) {
            self.cache.remove_if(&queue.key, |cached| Arc::strong_count(&cached.held) == 2);
        }
    }
}
