//! Detects that there are more requests than the connections can serve.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::time::Instant;

use crate::overload::Overload;

/// Counts the callers that wait for a connection, and decides whether they are too many: the database is behind, and
/// more callers wait than there are connections.
#[derive(Default)]
pub struct Waits {
    waiting: AtomicUsize,
    overload: Overload,
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
        self.overload.refuses(self.exceed(connections))
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let behind = self.waits.waiting.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        self.waits.overload.note(self.began.elapsed(), self.before, behind);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use utterd_domain::limits::{OVERLOAD_WINDOW, STANDING_WAIT};

    const CONNECTIONS: usize = 16;
    const MANY: usize = 1_000;

    fn with(waiting: usize) -> Waits {
        Waits { waiting: AtomicUsize::new(waiting), ..Waits::default() }
    }

    #[test]
    fn a_burst_is_not_too_many() {
        let waits = with(MANY);
        assert!(!waits.are_too_many(CONNECTIONS));
        waits.overload.note(2 * STANDING_WAIT, MANY, MANY - 1);
        assert!(!waits.are_too_many(CONNECTIONS));
    }

    #[test]
    fn a_few_that_wait_for_long_are_not_too_many() {
        let waits = with(MANY);
        waits.overload.note(2 * STANDING_WAIT, 10, 20);
        assert!(!waits.are_too_many(CONNECTIONS));
    }

    #[test]
    fn while_it_is_behind_as_many_may_wait_as_there_are_connections() {
        let waits = with(CONNECTIONS + 1);
        waits.overload.note(2 * STANDING_WAIT, MANY, MANY);
        assert!(waits.are_too_many(CONNECTIONS));
        assert!(!waits.are_too_many(CONNECTIONS + 1));
    }

    #[test]
    fn it_has_caught_up_when_nobody_was_refused() {
        let waits = with(MANY);
        waits.overload.note(2 * STANDING_WAIT, MANY, MANY);
        assert!(waits.are_too_many(CONNECTIONS));
        waits.overload.note(Duration::ZERO, 0, 0);
        assert!(waits.are_too_many(CONNECTIONS), "somebody was refused before that wait ended");
        waits.overload.note(OVERLOAD_WINDOW, 0, 0);
        waits.overload.note(Duration::ZERO, 0, 0);
        assert!(!waits.are_too_many(CONNECTIONS));
    }
}
