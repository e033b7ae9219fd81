//! Why a call fails.

use crate::{
    domain::{Refusal, limits::MAX_WAITING_WRITES},
    store::StoreError,
};

/// A call that changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The rules refuse it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Other processes changed the conversation each time that a decision was made.
    #[error("the conversation kept changing during this call; try again")]
    Contended,
    /// As many writes of the conversation wait for their turn as may.
    #[error(
        "{MAX_WAITING_WRITES} writes of the conversation are already waiting: try again when some are answered"
    )]
    QueueFull,
    /// A task of the server ended before its work was done.
    #[error("the call was interrupted")]
    Interrupted,
    /// The operating system gave no randomness to make a secret from.
    #[error("no token could be made: the operating system returned no random bytes")]
    NoSecret,
    /// A cursor into the events that cannot be followed.
    #[error("after_event: {0}")]
    Cursor(&'static str),
}
