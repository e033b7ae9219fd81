//! Why a store does not do what it is asked to.

use super::{
    commit::{OutcomeKey, RecipientKey},
    quotas::OverQuota,
};
use crate::domain::ConversationKey;

/// A backend that fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no room.
    #[error(
        "the store is full: {used} of {limit} bytes are taken and this write adds {added}; forget or delete something, or raise memory_limit"
    )]
    Full {
        /// Bytes that are taken.
        used: u64,
        /// Bytes that may be taken.
        limit: u64,
        /// Bytes that the commit would add.
        added: u64,
    },
    /// There is no room on the disk, and nothing was written. Writes are taken again once there is.
    #[error(
        "the disk is full: {free} bytes are free and {wanted} are needed; free some space, or lower disk_reserve; writes then resume without a restart"
    )]
    DiskFull {
        /// Bytes that are free.
        free: u64,
        /// Bytes that have to be.
        wanted: u64,
    },
    /// A namespace has what it may have of something, and nothing was written.
    #[error(transparent)]
    OverQuota(Box<OverQuota>),
    /// The disk is slower than what is to be written: so much waits for it that no more is taken, and nothing was
    /// written.
    #[error("{waiting} bytes are waiting for the disk, and no more are accepted; try again later")]
    Busy {
        /// Bytes that wait.
        waiting: u64,
    },
    /// The disk or the network failed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// Why no backup is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupRefused {
    /// The backend makes none.
    #[error("this backend has no backups; accepted are fjall and sled")]
    Unsupported,
    /// Another one is under way.
    #[error("a backup is running, and only one can run at a time; try again when it has ended")]
    UnderWay,
}

/// A commit that was not acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A precondition does not hold, and nothing took effect: what was decided has to be decided anew.
    #[error("a precondition of the commit does not hold: {0}")]
    Conflict(Conflict),
    /// The answer was lost: it is not known whether the commit took effect.
    #[error("it is not known whether the write took effect: {0}")]
    Unknown(String),
    /// The backend failed, and nothing took effect.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The precondition that does not hold; where several do not, one of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The conversation is in another state, or does not exist, or exists already.
    #[error("conversation {} is in another state", .0.id)]
    State(ConversationKey),
    /// Another conversation is the recipient's active one.
    #[error("another conversation of recipient {} is active", .0.id)]
    Pointer(RecipientKey),
    /// An outcome is kept for the attempt.
    #[error("an outcome of request {} is kept", .0.request)]
    Outcome(OutcomeKey),
}

impl From<Conflict> for CommitError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}
