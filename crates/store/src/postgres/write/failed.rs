//! Why a commit was not made.

use super::quotas::Taken;
use crate::{Conflict, StoreError, postgres::connection::fault::Fault};

/// Why a commit was not acknowledged.
#[derive(Clone)]
pub enum Failed {
    Conflict(Conflict),
    InTheWay,
    /// The commit exceeds a quota of a namespace.
    Over(Taken),
    Store(StoreError),
    /// The answer was lost: the commit may have taken effect.
    Lost(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failed {
    /// Converts a fault that is not a conflict.
    pub fn of(fault: Fault) -> Self {
        match fault {
            Fault::InTheWay => Self::InTheWay,
            Fault::Lost(error) => Self::Lost(error),
            fault => Self::Store(fault.into_error()),
        }
    }
}

/// Returns the failure if something is not as a statement expects.
pub fn conflict(conflict: Option<&Conflict>) -> Failed {
    match conflict {
        Some(conflict) => Failed::Conflict(conflict.clone()),
        None => Failed::of(Fault::Unexpected),
    }
}
