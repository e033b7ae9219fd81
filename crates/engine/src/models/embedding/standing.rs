//! Embedding statistics of a namespace in this process.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use crate::{Caller, Engine};
use utterd_telemetry::Registry;

/// The use of the embedding model for a namespace since the process started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStanding {
    /// Utterances that were embedded.
    pub embedded: u64,
    /// Embeddings dropped because their text had been erased or edited when they arrived.
    pub dropped: u64,
    /// Background calls that returned nothing usable.
    pub failed: u64,
    /// Searches that also ranked by meaning.
    pub hybrid: u64,
    /// Searches that ranked by words alone: the model was down or slow.
    pub without: u64,
    /// Whether calls are held back, for every namespace, because the model's server does not answer.
    pub held_back: bool,
    /// Waiting conversations.
    pub waiting: u64,
}

impl Engine {
    /// Returns the statistics of the caller's namespace; `None` if no embedding model is configured.
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

    /// Adds the metrics of the embedding model, if there is one.
    pub(crate) fn describe_embedding(self: &Arc<Self>, registry: &Registry) {
        let Some(embeddings) = &self.embeddings else { return };
        embeddings.meters.register(registry);
        let paused = embeddings.clone();
        registry.gauge(
            "utterd_embedding_paused",
            "1 while calls to the embedding model are paused, because its server does not answer.",
            move || f64::from(u8::from(paused.breaker.lock().is_open())),
        );
    }
}
