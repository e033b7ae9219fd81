//! Counts of the work done by the embedding model: for a namespace, and for operators.

use std::sync::atomic::AtomicU64;

use utterd_telemetry::{IntCounter, IntCounterVec, Registry, by, counter};

/// The counts of a namespace since the process started.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) embedded: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) hybrid: AtomicU64,
    pub(super) without: AtomicU64,
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
