//! Detects when writes arrive faster than they can be written.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use crate::domain::limits::{LEAST_OVERLOAD, MAX_BACKLOG_BYTES, OVERLOAD_WINDOW, STANDING_WAIT};

/// The number of bytes waiting to be written, and whether it is too large.
///
/// - The writing thread is behind once the first request of a group has waited longer than [`STANDING_WAIT`],
///   and at least as many requests wait behind it as waited before it: a long queue that is shrinking does
///   not count. Nor does a queue of fewer than [`LEAST_OVERLOAD`] requests.
/// - While it is behind, new writes should be refused if more than [`MAX_BACKLOG_BYTES`] bytes wait.
/// - It has caught up once no caller was refused between two groups, and the first request has waited less
///   than [`OVERLOAD_WINDOW`].
#[derive(Default)]
pub(in crate::store::durable) struct Backlog {
    bytes: AtomicUsize,
    is_behind: AtomicBool,
    /// Whether a caller was told, since the last group, that the backlog is too long.
    was_told: AtomicBool,
}

impl Backlog {
    /// Whether new writes should be refused.
    pub(in crate::store::durable) fn is_too_long(&self) -> bool {
        let is_too_long =
            self.is_behind.load(Ordering::Relaxed) && self.bytes.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES;
        if is_too_long {
            self.was_told.store(true, Ordering::Relaxed);
        }
        is_too_long
    }

    /// Whether the backlog is short enough to add optional writes.
    pub(in crate::store::durable) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) <= MAX_BACKLOG_BYTES
    }

    /// Sets the number of waiting bytes.
    pub(super) fn set(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Records that a group is taken: its first request has `waited`, with `before` others ahead of it on
    /// arrival and `behind` others after it now.
    pub(super) fn take(&self, waited: Duration, before: usize, behind: usize) {
        let is_long = before.max(behind) >= LEAST_OVERLOAD as usize;
        let was_told = self.was_told.swap(false, Ordering::Relaxed);
        if waited > STANDING_WAIT && is_long && behind >= before {
            self.is_behind.store(true, Ordering::Relaxed);
        } else if waited < OVERLOAD_WINDOW && !was_told {
            self.is_behind.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1_000;

    fn behind() -> Backlog {
        let backlog = Backlog::default();
        backlog.set(MAX_BACKLOG_BYTES + 1);
        backlog.take(2 * STANDING_WAIT, MANY, 4 * MANY);
        backlog
    }

    #[test]
    fn a_queue_that_gets_shorter_is_not_too_long() {
        let backlog = Backlog::default();
        backlog.set(usize::MAX);
        backlog.take(10 * STANDING_WAIT, MANY, MANY - 1);
        assert!(!backlog.is_too_long());
    }

    #[test]
    fn a_few_that_wait_for_long_are_not_too_many() {
        let backlog = Backlog::default();
        backlog.set(usize::MAX);
        backlog.take(10 * STANDING_WAIT, 10, 20);
        assert!(!backlog.is_too_long());
    }

    #[test]
    fn while_it_is_behind_a_quarter_of_a_group_may_wait() {
        let backlog = behind();
        assert!(backlog.is_too_long());
        backlog.set(MAX_BACKLOG_BYTES);
        assert!(!backlog.is_too_long());
    }

    #[test]
    fn it_has_caught_up_when_nobody_was_refused() {
        let backlog = behind();
        assert!(backlog.is_too_long());
        backlog.take(Duration::ZERO, 0, 0);
        assert!(backlog.is_too_long(), "somebody was refused before that group");
        backlog.take(OVERLOAD_WINDOW, 0, 0);
        backlog.take(Duration::ZERO, 0, 0);
        assert!(!backlog.is_too_long());
    }
}
