//! What lets a caller in.

use std::sync::Arc;

use super::principal::Principal;
use crate::domain::Timestamp;

/// What lets a caller in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Who calls with it.
    pub principal: Arc<Principal>,
    /// From this moment on it lets nobody in; `None` is never.
    pub expires: Option<Timestamp>,
}

impl Credential {
    /// Whether it lets nobody in any more at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
