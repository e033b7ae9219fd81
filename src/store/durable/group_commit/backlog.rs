//! Whether more is to be written than can be.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use crate::domain::limits::{LEAST_OVERLOAD, MAX_BACKLOG_BYTES, OVERLOAD_WINDOW, STANDING_WAIT};

/// How much waits to be written, and whether it is too much.
///
/// - The writing thread is behind once a request has waited for half a second, and at least as many wait behind it as
///   waited before it: a long queue that gets shorter again is none.
/// - Then more had better be refused while more waits than a quarter of a group.
/// - It has caught up when nobody was told so between two groups, and nothing waited for long.
#[derive(Default)]
pub(in crate::store::durable) struct Backlog {
    bytes: AtomicUsize,
    is_behind: AtomicBool,
    /// Whether somebody was told that it is too long.
    was_told: AtomicBool,
}

impl Backlog {
    /// Whether there had better be no more.
    pub(in crate::store::durable) fn is_too_long(&self) -> bool {
        let is_too_long =
            self.is_behind.load(Ordering::Relaxed) && self.bytes.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES;
        if is_too_long {
            self.was_told.store(true, Ordering::Relaxed);
        }
        is_too_long
    }

    /// Whether little enough waits that what can be done without may be added.
    pub(in crate::store::durable) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) <= MAX_BACKLOG_BYTES
    }

    /// So many bytes wait.
    pub(super) fn set(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// A group is taken, whose first request has `waited` behind `before` others, and before `behind`.
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
