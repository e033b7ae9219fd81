//! Detects that there are more requests than the connections can serve.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::domain::limits::{LEAST_OVERLOAD, OVERLOAD_WINDOW, STANDING_WAIT};

/// Counts the callers that wait for a connection, and decides whether they are too many.
///
/// - The database is behind once a caller has waited longer than [`STANDING_WAIT`] in a long queue that did not
///   become shorter meanwhile. So a burst is served, whatever its size.
/// - While the database is behind, new writes should be refused if more callers wait than there are
///   connections.
/// - The database has caught up once a wait was shorter than [`OVERLOAD_WINDOW`] and no write was refused since
///   the wait before it ended.
#[derive(Default)]
pub struct Waits {
    waiting: AtomicUsize,
    is_behind: AtomicBool,
    /// Whether a caller learned that too many wait, since the last wait ended.
    was_told: AtomicBool,
}

/// A caller's wait, which ends when this is dropped.
pub struct Wait {
    waits: Arc<Waits>,
    began: Instant,
    before: usize,
}

impl Waits {
    /// Begins a wait.
    pub fn begin(self: &Arc<Self>) -> Wait {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        Wait { waits: self.clone(), began: Instant::now(), before }
    }

    /// Whether more callers wait than there are `connections`.
    pub fn exceed(&self, connections: usize) -> bool {
        self.waiting.load(Ordering::Relaxed) > connections
    }

    /// Whether new writes should be refused.
    pub fn are_too_many(&self, connections: usize) -> bool {
        let too_many = self.is_behind.load(Ordering::Relaxed) && self.exceed(connections);
        if too_many {
            self.was_told.store(true, Ordering::Relaxed);
        }
        too_many
    }

    /// Notes a wait of this length, with `before` callers waiting at its beginning and `behind` at its end.
    fn note(&self, waited: Duration, before: usize, behind: usize) {
        let is_long = before.max(behind) >= LEAST_OVERLOAD as usize;
        let was_told = self.was_told.swap(false, Ordering::Relaxed);
        if waited > STANDING_WAIT && is_long && behind >= before {
            self.is_behind.store(true, Ordering::Relaxed);
        } else if waited < OVERLOAD_WINDOW && !was_told {
            self.is_behind.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let behind = self.waits.waiting.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        self.waits.note(self.began.elapsed(), self.before, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNECTIONS: usize = 16;
    const MANY: usize = 1_000;

    fn with(waiting: usize) -> Waits {
        Waits { waiting: AtomicUsize::new(waiting), ..Waits::default() }
    }

    #[test]
    fn a_burst_is_not_too_many() {
        let waits = with(MANY);
        assert!(!waits.are_too_many(CONNECTIONS));
        waits.note(2 * STANDING_WAIT, MANY, MANY - 1);
        assert!(!waits.are_too_many(CONNECTIONS));
    }

    #[test]
    fn a_few_that_wait_for_long_are_not_too_many() {
        let waits = with(MANY);
        waits.note(2 * STANDING_WAIT, 10, 20);
        assert!(!waits.are_too_many(CONNECTIONS));
    }

    #[test]
    fn while_it_is_behind_as_many_may_wait_as_there_are_connections() {
        let waits = with(CONNECTIONS + 1);
        waits.note(2 * STANDING_WAIT, MANY, MANY);
        assert!(waits.are_too_many(CONNECTIONS));
        assert!(!waits.are_too_many(CONNECTIONS + 1));
    }

    #[test]
    fn it_has_caught_up_when_nobody_was_refused() {
        let waits = with(MANY);
        waits.note(2 * STANDING_WAIT, MANY, MANY);
        assert!(waits.are_too_many(CONNECTIONS));
        waits.note(Duration::ZERO, 0, 0);
        assert!(waits.are_too_many(CONNECTIONS), "somebody was refused before that wait ended");
        waits.note(OVERLOAD_WINDOW, 0, 0);
        waits.note(Duration::ZERO, 0, 0);
        assert!(!waits.are_too_many(CONNECTIONS));
    }
}
