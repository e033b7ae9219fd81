//! Time and ids for the engines of a run.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;
use utterd::{
    domain::Timestamp,
    engine::{Clock, Counters},
};

/// Noon of 1 March 2026, UTC: the start of each run.
const NOON: i64 = 1_772_366_400_000_000;

/// The runtime's paused clock, which a run can also jump forward. Its ids count up; all engines of a run
/// share it, so none is assigned twice.
pub struct VirtualClock {
    started: Instant,
    skipped: AtomicI64,
    ids: AtomicU64,
}

impl VirtualClock {
    pub fn new() -> Self {
        Self { started: Instant::now(), skipped: AtomicI64::new(0), ids: AtomicU64::new(0) }
    }

    /// Jumps forward, without waking sleepers earlier.
    pub fn skip(&self, duration: Duration) {
        self.skipped.fetch_add(micros(duration), Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOON + micros(self.started.elapsed()) + self.skipped.load(Ordering::Relaxed))
    }

    fn unique(&self) -> u128 {
        u128::from(self.ids.fetch_add(1, Ordering::Relaxed)) + 1
    }

    fn secret(&self) -> Option<[u8; 16]> {
        Some(self.unique().to_be_bytes())
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Counts words. The results of the real counters do not matter here, and they take long to load.
struct Words;

impl utterd::domain::TokenCounter for Words {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX)
    }
}

/// Returns the word counter for every encoding.
pub const WORDS: Counters = |_| &Words;
