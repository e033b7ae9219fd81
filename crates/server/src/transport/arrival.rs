//! The time at which a call arrived.

use tokio::time::Instant;

/// The time at which a service was cloned; for a call, the arrival of its head.
#[derive(Debug, Default)]
pub struct Arrival(Option<Instant>);

impl Arrival {
    /// Returns when the call whose turn comes at `now` arrived. Later calls of this method return `now`.
    pub fn take(&mut self, now: Instant) -> Instant {
        self.0.take().unwrap_or(now)
    }
}

impl Clone for Arrival {
    fn clone(&self) -> Self {
        Self(Some(Instant::now()))
    }
}
