//! The credential of a caller.

use std::sync::Arc;

use super::principal::Principal;
use utterd_domain::Timestamp;

/// The credential that lets a caller in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The caller that it stands for.
    pub principal: Arc<Principal>,
    /// The time from which it is not valid; `None` never expires.
    pub expires: Option<Timestamp>,
}

impl Credential {
    /// Whether it has expired at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
