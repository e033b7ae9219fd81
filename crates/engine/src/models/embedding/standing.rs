//! Embedding statistics of a namespace in this process.

use std::sync::Arc;

use super::meters::EmbeddingStanding;
use crate::{Caller, Engine};
use utterd_telemetry::Registry;

impl Engine {
    /// Returns the statistics of the caller's namespace; `None` if no embedding model is configured.
    pub fn embedding_standing(&self, caller: &Caller) -> Option<EmbeddingStanding> {
        let embeddings = self.embeddings.as_ref()?;
        let counted = embeddings.standings.get(&caller.namespace).map(|standing| standing.clone());
        Some(EmbeddingStanding {
            held_back: embeddings.breaker.lock().is_open() || embeddings.prompts.are_held_back(),
            waiting: embeddings.queue.lock().waiting(&caller.namespace) as u64,
            ..counted.unwrap_or_default()
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
