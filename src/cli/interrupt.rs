//! Ctrl-C, for commands that have something to report.

use tokio::signal::ctrl_c;

/// Returns the result of `work`; `None` if the user presses Ctrl-C first.
pub async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        // Polled first: the signal handler is installed before the work begins.
        biased;
        Ok(()) = ctrl_c() => None,
        done = work => Some(done),
    }
}
