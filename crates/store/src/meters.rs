//! The metrics of stores that write several commits together.

use utterd_telemetry::{Histogram, Registry, counts, seconds};

/// The metrics of a store that writes several commits together.
#[derive(Clone, Debug)]
pub struct Meters {
    /// The time that a batch takes: the flush to the disk, or the statement in the database.
    pub write: Histogram,
    /// The number of commits in a batch.
    pub batch: Histogram,
}

impl Default for Meters {
    fn default() -> Self {
        let write = seconds(
            "utterd_store_write_seconds",
            "How long the store takes to write a batch of commits: to the disk, or in the database.",
        );
        Self { write, batch: counts("utterd_store_batch_commits", "Commits that the store writes together.") }
    }
}

impl Meters {
    /// Adds these metrics to those of a server.
    pub fn register(&self, registry: &Registry) {
        [&self.write, &self.batch].into_iter().for_each(|it| registry.add(it));
    }
}
