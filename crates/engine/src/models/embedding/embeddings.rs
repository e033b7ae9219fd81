//! A model that embeds, and its embeddings.

use std::{sync::Arc, time::Duration};

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{
    Embedder,
    meters::{EmbeddingStanding, Meters},
    prompts::Prompts,
    vectors::Vectors,
};
use crate::models::{breaker::Breaker, turns::Turns};
use utterd_domain::{
    Change, Conversation, ConversationKey, LineageId, Namespace, Ranges, limits::EMBEDDING_BATCH,
};

/// The most waiting conversations per namespace. A conversation that finds no room is queued again by its
/// next search.
const LINE: usize = 1_024;

/// A model that embeds, and its embeddings.
pub(crate) struct Embeddings {
    pub(super) embedder: Arc<dyn Embedder>,
    /// The longest wait for an answer in the background.
    pub(super) timeout: Duration,
    pub(super) vectors: Vectors,
    pub(super) prompts: Prompts,
    /// The waiting conversations.
    pub(super) queue: Mutex<Turns>,
    /// Notified when something is queued.
    pub(super) news: Notify,
    /// The breaker for background calls.
    pub(super) breaker: Mutex<Breaker>,
    /// The number of texts per call: fewer after failures.
    pub(super) batch: Mutex<usize>,
    /// What was done for each namespace.
    pub(super) standings: DashMap<Namespace, EmbeddingStanding>,
    pub(super) meters: Meters,
}

impl Embeddings {
    /// Creates the embeddings of a model, with up to `bytes` of memory for them.
    pub(crate) fn new(embedder: Arc<dyn Embedder>, timeout: Duration, bytes: u64) -> Self {
        Self {
            embedder,
            timeout,
            vectors: Vectors::new(bytes),
            prompts: Prompts::default(),
            queue: Mutex::new(Turns::new(LINE)),
            news: Notify::new(),
            breaker: Mutex::default(),
            batch: Mutex::new(EMBEDDING_BATCH),
            standings: DashMap::new(),
            meters: Meters::new(),
        }
    }

    /// Counts something that was done for a namespace.
    pub(super) fn count(&self, namespace: &Namespace, count: impl FnOnce(&mut EmbeddingStanding)) {
        count(&mut self.standings.entry(namespace.clone()).or_default());
    }

    /// Queues a conversation to have its missing utterances embedded.
    pub(super) fn ask(&self, key: &ConversationKey) {
        self.queue.lock().add(key);
        self.news.notify_one();
    }

    /// Follows committed changes from `before` to `after`: embeddings of erased or edited text leave memory,
    /// and new utterances of a conversation with embeddings in memory are embedded later.
    pub(crate) fn heed(&self, before: &Conversation, changes: &[Arc<Change>], after: &Conversation) {
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

    /// Drops the embeddings of a conversation that was removed.
    pub(crate) fn remove(&self, lineage: LineageId) {
        self.vectors.remove(lineage);
    }

    /// Counts a search that also ranked by meaning, or had to rank by words alone.
    pub(super) fn searched(&self, namespace: &Namespace, by_meaning: bool) {
        self.meters.searched(by_meaning);
        self.count(namespace, |standing| match by_meaning {
            true => standing.hybrid += 1,
            false => standing.without += 1,
        });
    }
}
