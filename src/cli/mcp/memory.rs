//! A server as one caller sees it.

use std::sync::Arc;

use crate::cli::{access::Identity, client::Connection};

/// A server as one caller sees it, and whose conversations are meant where none is named.
#[derive(Clone)]
pub struct Memory {
    connection: Connection,
    recipient: Arc<str>,
}

impl Memory {
    /// What `connection` leads to, for callers who mean `recipient` where they name none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        Self { connection, recipient: recipient.into() }
    }

    /// The same for a caller who shows who it is.
    pub fn of(&self, identity: Identity) -> Self {
        Self { connection: self.connection.on_behalf_of(identity), recipient: self.recipient.clone() }
    }

    /// The server.
    pub fn server(&self) -> &Connection {
        &self.connection
    }

    /// Whose conversations are meant.
    pub fn recipient(&self, named: Option<String>) -> String {
        named.filter(|named| !named.is_empty()).unwrap_or_else(|| self.recipient.to_string())
    }

    /// The conversation that is meant, and whose it is: one that is named is its owner's, whoever that is.
    pub fn address(&self, conversation: Option<String>, recipient: Option<String>) -> (String, String) {
        match conversation.filter(|conversation| !conversation.is_empty()) {
            Some(conversation) => (conversation, recipient.unwrap_or_default()),
            None => (String::new(), self.recipient(recipient)),
        }
    }
}
