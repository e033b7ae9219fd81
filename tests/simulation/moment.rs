//! A moment that tasks wait for.
//!
//! Waiting tasks are woken in the order in which they came. (tokio's channels with several waiters wake them
//! in an order that does not depend on the seed.)

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// A moment, which comes once.
#[derive(Clone, Default)]
pub struct Moment(Arc<(AtomicBool, Notify)>);

/// Makes a moment come when it is dropped.
pub struct Until(pub Moment);

impl Moment {
    /// Makes it come.
    pub fn come(&self) {
        self.0.0.store(true, Ordering::Relaxed);
        self.0.1.notify_waiters();
    }

    /// Whether it has come.
    pub fn has_come(&self) -> bool {
        self.0.0.load(Ordering::Relaxed)
    }

    /// Waits for it.
    pub async fn wait(&self) {
        let news = self.0.1.notified();
        if !self.has_come() {
            news.await;
        }
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        self.0.come();
    }
}
