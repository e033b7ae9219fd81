//! A model that embeds, and all that is known of what it embedded.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Embedder, counts::Counts, prompts::Prompts, queue::Queue, vectors::Vectors};
use crate::{
    domain::{Change, Conversation, ConversationKey, LineageId, Namespace, Ranges, limits::EMBEDDING_BATCH},
    engine::breaker::Breaker,
};

/// A model that embeds, and what it embedded.
pub(in crate::engine) struct Embeddings {
    pub(super) embedder: Arc<dyn Embedder>,
    /// The most that is waited for an answer in the background.
    pub(super) timeout: Duration,
    pub(super) vectors: Vectors,
    pub(super) prompts: Prompts,
    pub(super) queue: Mutex<Queue>,
    /// Something was queued.
    pub(super) news: Notify,
    /// For calls that nobody waits for.
    pub(super) breaker: Mutex<Breaker>,
    /// Texts that are asked for at once: fewer after failures.
    pub(super) batch: Mutex<usize>,
    counts: DashMap<Namespace, Arc<Counts>>,
}

impl Embeddings {
    /// A model, with so many bytes for what it embeds.
    pub(in crate::engine) fn new(embedder: Arc<dyn Embedder>, timeout: Duration, bytes: u64) -> Self {
        Self {
            embedder,
            timeout,
            vectors: Vectors::new(bytes),
            prompts: Prompts::default(),
            queue: Mutex::default(),
            news: Notify::new(),
            breaker: Mutex::default(),
            batch: Mutex::new(EMBEDDING_BATCH),
            counts: DashMap::new(),
        }
    }

    /// What was done for a namespace.
    pub(super) fn counts(&self, namespace: &Namespace) -> Arc<Counts> {
        if let Some(counts) = self.counts.get(namespace) {
            return counts.clone();
        }
        self.counts.entry(namespace.clone()).or_default().clone()
    }

    /// Has what a conversation lacks embedded, when its turn comes.
    pub(super) fn ask(&self, key: &ConversationKey) {
        self.queue.lock().add(key);
        self.news.notify_one();
    }

    /// Heeds changes that were committed, from `before` to `after`: what they erase or edit leaves memory, and what they
    /// add to a conversation with embeddings in memory is embedded later.
    pub(in crate::engine) fn heed(
        &self,
        before: &Conversation,
        changes: &[Arc<Change>],
        after: &Conversation,
    ) {
        let Some(shared) = self.vectors.get(before.head.identity.lineage) else { return };
        let mut gone = Ranges::new();
        for change in changes {
            [&change.dropped, &change.erased, &change.remnants, &change.updated]
                .iter()
                .for_each(|some| gone.union(some));
        }
        let erases = before.head.erased_at != after.head.erased_at;
        if erases || changes.iter().any(|change| !change.dropped.is_empty()) {
            let mut held = shared.write();
            match held.is_of(before) {
                true => held.give_up(&gone, after),
                false => self.vectors.remove(before.head.identity.lineage),
            }
        }
        if erases || changes.iter().any(|change| !change.appended.is_empty()) {
            self.ask(after.key());
        }
    }

    /// Gives up the embeddings of a conversation that is gone.
    pub(in crate::engine) fn remove(&self, lineage: LineageId) {
        self.vectors.remove(lineage);
    }

    /// Counts a search that ranked by meaning too, or had to do with words.
    pub(super) fn searched(&self, namespace: &Namespace, by_meaning: bool) {
        let counts = self.counts(namespace);
        let count = if by_meaning { &counts.hybrid } else { &counts.without };
        count.fetch_add(1, Relaxed);
    }
}
