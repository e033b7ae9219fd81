//! Ctrl-C, for commands that have something to report.

use tokio::signal::ctrl_c;

use crate::errors::CliError;

/// Returns the result of `work`; `None` if the user presses Ctrl-C first.
pub async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        // Polled first: the signal handler is installed before the work begins.
        biased;
        Ok(()) = ctrl_c() => None,
        done = work => Some(done),
    }
}

/// Runs `work`, which writes to a file if `to_file` is set: Ctrl-C then leaves nothing of the file.
///
/// Otherwise it writes to stdout. A write to a full pipe blocks the thread, which would never see the signal,
/// so Ctrl-C ends the process.
pub async fn all_or_nothing(
    to_file: bool,
    work: impl Future<Output = Result<(), CliError>>,
) -> Result<(), CliError> {
    if !to_file {
        return work.await;
    }
    let done = unless_interrupted(work).await;
    done.unwrap_or_else(|| Err(CliError::Interrupted("nothing was written".into())))
}
