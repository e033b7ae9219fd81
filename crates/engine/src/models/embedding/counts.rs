//! Counts of the work done for a namespace.

use std::sync::atomic::AtomicU64;

/// Counts since the process started.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) embedded: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) hybrid: AtomicU64,
    pub(super) without: AtomicU64,
}
