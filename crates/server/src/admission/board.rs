//! The demands of callers, which the workers of a server exchange while one of them is overloaded.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use utterd_domain::limits::SHARE_WINDOW;

/// The calls that a worker received in one window.
#[derive(Debug, Default)]
pub struct Asked {
    /// The demand of each caller.
    pub callers: FxHashMap<u64, Demand>,
    /// The calls that were admitted.
    pub admitted: u32,
}

/// The calls of one caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// All of them.
    pub asked: u32,
    /// Those that were admitted.
    pub admitted: u32,
}

/// Where workers publish the calls that they received. Each reads it once per window.
#[derive(Debug, Default)]
pub struct Board {
    overloaded: AtomicUsize,
    joined: AtomicUsize,
    /// The calls that workers received in the last window, and when that window ended.
    told: Mutex<FxHashMap<usize, (Instant, Arc<Asked>)>>,
}

/// The overload of one worker, until it is dropped.
#[derive(Debug)]
pub struct Overload(Arc<Board>);

impl Asked {
    /// Returns the demand of a caller.
    pub fn by(&self, caller: u64) -> Demand {
        self.callers.get(&caller).copied().unwrap_or_default()
    }
}

impl Board {
    /// Returns the number of a new worker.
    pub fn join(&self) -> usize {
        self.joined.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether a worker is overloaded.
    pub fn has_overload(&self) -> bool {
        self.overloaded.load(Ordering::Relaxed) > 0
    }

    /// Notes that a worker is overloaded.
    pub fn overload(self: &Arc<Self>) -> Overload {
        self.overloaded.fetch_add(1, Ordering::Relaxed);
        Overload(self.clone())
    }

    /// Publishes the calls that the worker `number` received; returns what the other workers published lately.
    pub fn exchange(&self, number: usize, asked: Arc<Asked>, now: Instant) -> Vec<Arc<Asked>> {
        let mut told = self.told.lock();
        told.insert(number, (now, asked));
        told.retain(|_, (time, _)| now.saturating_duration_since(*time) < 2 * SHARE_WINDOW);
        let others = told.iter().filter(|(other, _)| **other != number);
        others.map(|(_, (_, asked))| asked.clone()).collect()
    }
}

impl Drop for Overload {
    fn drop(&mut self) {
        self.0.overloaded.fetch_sub(1, Ordering::Relaxed);
    }
}
