//! A server as one caller sees it.

use std::sync::Arc;

use ulid::Ulid;

use crate::{access::Identity, client::Connection};

/// A server as one caller sees it, and the recipient of calls that name none.
#[derive(Clone)]
pub struct Memory {
    connection: Connection,
    recipient: Arc<str>,
    /// Identifies the call that is made, so that it can be repeated.
    request: Ulid,
}

impl Memory {
    /// The server behind `connection`; `recipient` is meant if a call names none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        Self { connection, recipient: recipient.into(), request: Ulid::new() }
    }

    /// The same server for the caller with this identity.
    pub fn of(&self, identity: Identity) -> Self {
        Self { connection: self.connection.on_behalf_of(identity), ..self.clone() }
    }

    /// The same server for another call.
    pub fn anew(&self) -> Self {
        Self { request: Ulid::new(), ..self.clone() }
    }

    /// The id of the call that is made, the same in each attempt.
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

    /// The conversation and the recipient of a call. If a conversation is named, the default recipient does not apply:
    /// the conversation belongs to whoever owns it.
    pub fn address(&self, conversation: Option<String>, recipient: Option<String>) -> (String, String) {
        match conversation.filter(|conversation| !conversation.is_empty()) {
            Some(conversation) => (conversation, recipient.unwrap_or_default()),
            None => (String::new(), self.recipient(recipient)),
        }
    }
}
