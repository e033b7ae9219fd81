//! Why a call failed.

use utterd_domain::{Refusal, limits::MAX_WAITING_WRITES};
use utterd_store::StoreError;

/// What a call returns.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// The reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The rules refused the call.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Other processes changed the conversation each time a decision was made.
    #[error("the conversation kept changing during this call; try again")]
    Contended,
    /// The maximum number of writes to the conversation is already waiting.
    #[error(
        "{MAX_WAITING_WRITES} writes of the conversation are already waiting: try again when some are answered"
    )]
    QueueFull,
    /// A task of the server ended before its work was done.
    #[error("the call was interrupted")]
    Interrupted,
    /// Something panicked: a fault of the server.
    #[error("a fault of the server stopped the call")]
    Panicked,
    /// The operating system returned no random bytes for a secret.
    #[error("no token could be made: the operating system returned no random bytes")]
    NoSecret,
    /// An invalid cursor into the events.
    #[error("after_event: {0}")]
    Cursor(&'static str),
}
