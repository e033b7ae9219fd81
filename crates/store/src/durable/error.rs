//! Converts disk errors to store errors.

use std::fmt;

use crate::StoreError;

/// Wraps an error as [`StoreError::Unavailable`].
pub(super) fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
