//! The server as one caller sees it, without a window.

use std::sync::Arc;

use crate::client::Connection;

/// A server, and the call that is made.
#[derive(Clone)]
pub struct Caller {
    /// The server.
    pub server: Connection,
    /// The recipient of a call that names none.
    pub default_recipient: Arc<str>,
    /// The id of the call, the same in each attempt.
    pub request_id: String,
}

impl Caller {
    /// The recipient that is named, or else the default one.
    pub fn recipient(&self, named: Option<String>) -> String {
        named.filter(|named| !named.is_empty()).unwrap_or_else(|| self.default_recipient.to_string())
    }
}
