//! Errors of the disk, as a store tells them.

use std::fmt;

use crate::store::StoreError;

/// What went wrong, as the failure of a store.
pub(super) fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
