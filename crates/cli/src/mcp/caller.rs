//! The server as one caller sees it, without a window.

use std::sync::Arc;

use ulid::Ulid;

use crate::{access::Identity, client::Connection};

/// A server, the recipient of calls that name none, and the call that is made.
#[derive(Clone)]
pub struct Caller {
    connection: Connection,
    recipient: Arc<str>,
    /// Identifies the call, so that it can be repeated.
    request: Ulid,
}

impl Caller {
    /// A call to the server behind `connection`; `recipient` is meant if it names none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        Self { connection, recipient: recipient.into(), request: Ulid::new() }
    }

    /// The same for the caller with this identity.
    pub fn of(&self, identity: Identity) -> Self {
        Self { connection: self.connection.on_behalf_of(identity), ..self.clone() }
    }

    /// Another call.
    pub fn anew(&self) -> Self {
        Self { request: Ulid::new(), ..self.clone() }
    }

    /// The id of the call, the same in each attempt.
    pub fn request_id(&self) -> String {
        self.request.to_string()
    }

    /// The server.
    pub fn server(&self) -> &Connection {
        &self.connection
    }

    /// The recipient that is named, or else the default one.
    pub fn recipient(&self, named: Option<String>) -> String {
        named.filter(|named| !named.is_empty()).unwrap_or_else(|| self.recipient.to_string())
    }
}
