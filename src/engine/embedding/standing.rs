//! What was embedded for a namespace in this process.

use std::sync::atomic::Ordering::Relaxed;

use crate::engine::{Caller, Engine};

/// What was asked of the model that embeds, for a namespace since the process started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStanding {
    /// Utterances that were embedded.
    pub embedded: u64,
    /// Embeddings of what had been erased or edited when they arrived.
    pub dropped: u64,
    /// Calls in the background that brought nothing that could be used.
    pub failed: u64,
    /// Searches that ranked by meaning too.
    pub hybrid: u64,
    /// Searches that had to do with words: the model was away or slow.
    pub without: u64,
    /// Calls are held back, those of every namespace, because the model's server does not answer.
    pub held_back: bool,
    /// Conversations that wait.
    pub waiting: u64,
}

impl Engine {
    /// What was embedded for the caller's namespace; `None` where nothing is.
    pub fn embedding_standing(&self, caller: &Caller) -> Option<EmbeddingStanding> {
        let embeddings = self.embeddings.as_ref()?;
        let counts = embeddings.counts(&caller.namespace);
        let held_back = embeddings.breaker.lock().is_open() || embeddings.prompts.are_held_back();
        Some(EmbeddingStanding {
            embedded: counts.embedded.load(Relaxed),
            dropped: counts.dropped.load(Relaxed),
            failed: counts.failed.load(Relaxed),
            hybrid: counts.hybrid.load(Relaxed),
            without: counts.without.load(Relaxed),
            held_back,
            waiting: embeddings.queue.lock().waiting(&caller.namespace) as u64,
        })
    }
}
