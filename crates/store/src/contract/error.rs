//! The errors of a store.

use super::{
    commit::{OutcomeKey, RecipientKey},
    quotas::OverQuota,
};
use utterd_domain::ConversationKey;

/// What a store's methods return.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A failure of the backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store would exceed its limit, and nothing was written.
    #[error(
        "the store is full: {used} of {limit} bytes are taken and this write adds {added}; forget or delete something, or raise memory_limit"
    )]
    Full {
        /// The bytes in use.
        used: u64,
        /// The maximum number of bytes.
        limit: u64,
        /// Bytes that the commit would add.
        added: u64,
    },
    /// The disk is full, and nothing was written. Writes are accepted again once there is room.
    #[error(
        "the disk is full: {free} bytes are free and {wanted} are needed; free some space, or lower disk_reserve; writes then resume without a restart"
    )]
    DiskFull {
        /// The free bytes.
        free: u64,
        /// The bytes that must be free.
        wanted: u64,
    },
    /// A namespace has reached a quota, and nothing was written.
    #[error(transparent)]
    OverQuota(Box<OverQuota>),
    /// The disk is slower than the writes: too many bytes are already waiting for it, and nothing was
    /// written.
    #[error("{waiting} bytes are waiting for the disk, and no more are accepted; try again later")]
    Busy {
        /// The bytes that are waiting.
        waiting: u64,
    },
    /// The store panicked because of a fault in its code, and nothing was written.
    #[error("a fault of the store stopped the operation")]
    Panicked,
    /// The disk or the network failed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

impl StoreError {
    /// Wraps an error of the disk or the network.
    pub(crate) fn unavailable(error: impl std::fmt::Display) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// A commit that was not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A precondition does not hold, and nothing took effect: the decision must be made again.
    #[error("a precondition of the commit does not hold: {0}")]
    Conflict(Conflict),
    /// The answer was lost: it is unknown whether the commit took effect.
    #[error("it is not known whether the write took effect: {0}")]
    Unknown(String),
    /// The backend failed, and nothing took effect.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CommitError {
    /// Returns one word for the kind of error, for traces.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Conflict(_) => "conflict",
            Self::Unknown(_) => "unknown",
            Self::Store(_) => "store",
        }
    }
}

/// The precondition that does not hold; one of them if there are several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The conversation is in another state, or does not exist, or already exists.
    #[error("conversation {} is in another state", .0.id)]
    State(ConversationKey),
    /// Another conversation is the recipient's active one.
    #[error("another conversation of recipient {} is active", .0.id)]
    Pointer(RecipientKey),
    /// An outcome of the attempt already exists.
    #[error("an outcome of request {} is kept", .0.request)]
    Outcome(OutcomeKey),
}

impl From<Conflict> for CommitError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}
