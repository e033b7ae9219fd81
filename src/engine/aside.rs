//! Work that may take long: beside the threads that serve calls, so that it holds up no other.

use crate::engine::EngineError;

/// Text beyond this many bytes is counted beside the threads that serve calls.
pub const COUNT_ASIDE_BYTES: usize = 32 << 10;

/// Does `work` here, or on a thread of its own when it is `long`.
pub async fn aside<T: Send + 'static>(
    long: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    match long {
        true => tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Interrupted),
        false => Ok(work()),
    }
}
