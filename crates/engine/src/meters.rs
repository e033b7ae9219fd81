//! The engine's metrics for operators. No metric names a namespace, a recipient or a conversation, because
//! their number has no bound.

use std::sync::{Arc, OnceLock};

use super::{Facts, Operation};
use utterd_telemetry::{Histogram, IntCounter, IntCounterVec, Registry, by, counter, counts, seconds};

/// The number of kinds of operations.
const OPERATIONS: usize = Operation::SummarizeByLlm as usize + 1;

/// The metrics of an engine.
pub(super) struct Meters {
    operations: IntCounterVec,
    /// The counters of `operations`, each made by the first operation of its kind.
    by_operation: [OnceLock<IntCounter>; OPERATIONS],
    started: IntCounter,
    pub(super) ended: IntCounter,
    memorized: IntCounter,
    evicted: IntCounter,
    forgotten: IntCounter,
    segments: IntCounter,
    pub(super) tokens: IntCounter,
    pub(super) hits: IntCounter,
    pub(super) misses: IntCounter,
    pub(super) commit: Histogram,
    pub(super) commits: Outcomes,
    pub(super) batch: Histogram,
    pub(super) delivery: Histogram,
}

/// The results of commits.
pub(super) struct Outcomes {
    all: IntCounterVec,
    pub(super) committed: IntCounter,
    pub(super) conflict: IntCounter,
    pub(super) full: IntCounter,
    pub(super) failed: IntCounter,
}

impl Outcomes {
    fn new() -> Self {
        let all = by(&["outcome"], "utterd_store_commits_total", "Commits, by their outcome.");
        let of = |outcome| all.with_label_values(&[outcome]);
        let (committed, conflict) = (of("committed"), of("conflict"));
        let (full, failed) = (of("full"), of("failed"));
        Self { all, committed, conflict, full, failed }
    }
}

impl Meters {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            operations: by(
                &["operation"],
                "utterd_operations_total",
                "Operations, those in the background included.",
            ),
            by_operation: [const { OnceLock::new() }; OPERATIONS],
            started: counter("utterd_conversations_started_total", "Conversations that were started."),
            ended: counter(
                "utterd_conversations_ended_total",
                "Conversations that ended, or were deleted before they did.",
            ),
            memorized: counter("utterd_utterances_memorized_total", "Utterances that were stored."),
            evicted: counter("utterd_utterances_evicted_total", "Utterances that left a window."),
            forgotten: counter(
                "utterd_utterances_forgotten_total",
                "Utterances that were forgotten, for good or not.",
            ),
            segments: counter("utterd_segments_written_total", "Segments of summaries that were written."),
            tokens: counter("utterd_tokens_counted_total", "Tokens that were counted."),
            hits: counter("utterd_cache_hits_total", "Reads of a conversation's state that was in memory."),
            misses: counter(
                "utterd_cache_misses_total",
                "Reads of a conversation's state that had to be loaded from the store.",
            ),
            commit: seconds("utterd_store_commit_seconds", "How long the store takes for a commit."),
            commits: Outcomes::new(),
            batch: counts("utterd_commit_calls", "Calls that share a commit."),
            delivery: seconds(
                "utterd_event_delivery_seconds",
                "The time from an event to its delivery to a stream of WatchEvents.",
            ),
        })
    }

    /// Counts an operation and its facts.
    pub(super) fn happened(&self, operation: Operation, facts: Option<&Facts>) {
        let counter = self.by_operation[operation as usize]
            .get_or_init(|| self.operations.with_label_values(&[&format!("{operation:?}")]));
        counter.inc();
        let Some(facts) = facts else { return };
        self.memorized.inc_by(facts.memorized.count());
        self.started.inc_by(facts.started.into());
        self.evicted.inc_by(facts.evicted.count());
        self.forgotten.inc_by(facts.forgotten.count() + facts.erased.count());
        self.segments.inc_by(facts.segments_written.len() as u64);
    }

    pub(super) fn register(&self, registry: &Registry) {
        [
            &self.started,
            &self.ended,
            &self.memorized,
            &self.evicted,
            &self.forgotten,
            &self.segments,
            &self.tokens,
        ]
        .into_iter()
        .chain([&self.hits, &self.misses])
        .for_each(|counter| registry.add(counter));
        [&self.commit, &self.batch, &self.delivery].into_iter().for_each(|it| registry.add(it));
        [&self.operations, &self.commits.all].into_iter().for_each(|it| registry.add(it));
    }
}
