//! Detects when writes arrive faster than they can be written.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use crate::overload::Overload;
use utterd_domain::limits::MAX_BACKLOG_BYTES;

/// The number of bytes waiting to be written, and whether it is too large: the writing thread is behind, and more than
/// [`MAX_BACKLOG_BYTES`] bytes wait.
#[derive(Default)]
pub(in crate::durable) struct Backlog {
    bytes: AtomicUsize,
    overload: Overload,
}

impl Backlog {
    /// Whether new writes should be refused.
    pub(in crate::durable) fn is_too_long(&self) -> bool {
        self.overload.refuses(!self.is_short())
    }

    /// Whether the backlog is short enough to add optional writes.
    pub(in crate::durable) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) <= MAX_BACKLOG_BYTES
    }

    /// Sets the number of waiting bytes.
    pub(super) fn set(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Records that a group is taken: its first request has `waited`, with `before` others ahead of it on
    /// arrival and `behind` others after it now.
    pub(super) fn take(&self, waited: Duration, before: usize, behind: usize) {
        self.overload.note(waited, before, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::limits::{OVERLOAD_WINDOW, STANDING_WAIT};

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
