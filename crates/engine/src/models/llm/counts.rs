//! Counts of the calls made for a namespace.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the process started.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) out: AtomicU64,
    pub(super) told: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) failed: AtomicU64,
}

impl Counts {
    /// Counts an answer that was applied or dropped.
    pub(super) fn told(&self, applied: bool) {
        let count = if applied { &self.told } else { &self.dropped };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call as in flight while the guard is held.
    pub(super) fn out(&self) -> Out<'_> {
        self.out.fetch_add(1, Ordering::Relaxed);
        Out(self)
    }
}

pub(super) struct Out<'a>(&'a Counts);

impl Drop for Out<'_> {
    fn drop(&mut self) {
        self.0.out.fetch_sub(1, Ordering::Relaxed);
    }
}
