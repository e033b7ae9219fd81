//! Counts of the work done by the embedding model: for a namespace, and for operators.

use utterd_telemetry::{IntCounter, IntCounterVec, Registry, by, counter};

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

/// The metrics of an embedding model.
pub(super) struct Meters {
    pub(super) embedded: IntCounter,
    pub(super) failed: IntCounter,
    searches: IntCounterVec,
}

impl Meters {
    pub(super) fn new() -> Self {
        Self {
            embedded: counter("utterd_embedded_utterances_total", "Utterances that were embedded."),
            failed: counter(
                "utterd_embedding_failures_total",
                "Calls to the embedding model in the background that failed.",
            ),
            searches: by(
                &["by"],
                "utterd_searches_total",
                "Searches that ranked by meaning too, or by words alone because the embedding model did not answer.",
            ),
        }
    }

    /// Counts a search.
    pub(super) fn searched(&self, by_meaning: bool) {
        self.searches.with_label_values(&[if by_meaning { "meaning" } else { "words" }]).inc();
    }

    pub(super) fn register(&self, registry: &Registry) {
        [&self.embedded, &self.failed].into_iter().for_each(|it| registry.add(it));
        registry.add(&self.searches);
    }
}
