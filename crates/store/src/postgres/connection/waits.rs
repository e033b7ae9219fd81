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
