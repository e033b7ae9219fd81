//! When a call arrived.

use tokio::time::Instant;

/// When a service was cloned: for a call, when its head arrived.
#[derive(Debug, Default)]
pub struct Arrival(Option<Instant>);

impl Arrival {
    /// When the call arrived whose turn it is at `now`; told once.
    pub fn take(&mut self, now: Instant) -> Instant {
        self.0.take().unwrap_or(now)
    }
}

impl Clone for Arrival {
    fn clone(&self) -> Self {
        Self(Some(Instant::now()))
    }
}
