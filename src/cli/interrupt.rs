//! Ctrl-C, where a command has something to say about it.

use tokio::signal::ctrl_c;

/// What `work` comes to; `None` when the user presses Ctrl-C before.
pub async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        // Heard from the start: work that has begun can be interrupted.
        biased;
        Ok(()) = ctrl_c() => None,
        done = work => Some(done),
    }
}
