//! A server as one caller sees it.

use std::sync::Arc;

use ulid::Ulid;

use super::{
    fault::Fault,
    window::{Client, Opened, Window},
};
use crate::{access::Identity, client::Connection};

/// A server as one caller sees it, and the recipient of calls that name none.
#[derive(Clone)]
pub struct Memory {
    connection: Connection,
    recipient: Arc<str>,
    /// The window of calls that name no conversation, if there are windows, and its client.
    window: Option<(Arc<Window>, Client)>,
    /// Identifies the call that is made, so that it can be repeated.
    request: Ulid,
}

impl Memory {
    /// The server behind `connection`; `recipient` is meant if a call names none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        Self { connection, recipient: recipient.into(), window: None, request: Ulid::new() }
    }

    /// The same server for a client in this window.
    pub fn within(&self, window: &Arc<Window>, client: Client) -> Self {
        Self { window: Some((window.clone(), client)), ..self.clone() }
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
    /// the conversation belongs to whoever owns it. If none is named, the window's is meant, or, as long as nothing was
    /// said there, the recipient's.
    pub async fn address(
        &self,
        conversation: Option<String>,
        recipient: Option<String>,
    ) -> Result<(String, String), Fault> {
        if let Some(conversation) = conversation.filter(|conversation| !conversation.is_empty()) {
            return Ok((conversation, recipient.unwrap_or_default()));
        }
        let recipient = self.recipient(recipient);
        let own = match self.window_of(&recipient) {
            Some((window, _)) => window.conversation(self).await?,
            None => None,
        };
        Ok((own.unwrap_or_default(), recipient))
    }

    /// The conversation that a message to the recipient goes to: the one that is named, or else the window's, which can
    /// start with the message if that `may_start` one. Its id is empty if there are no windows.
    pub async fn open(
        &self,
        conversation: Option<String>,
        recipient: &str,
        may_start: bool,
    ) -> Result<Opened, Fault> {
        match (conversation.filter(|id| !id.is_empty()), self.window_of(recipient)) {
            (Some(id), _) => Ok(Opened { id, ..Opened::default() }),
            (None, Some((window, client))) => window.open(self, client, may_start).await,
            (None, None) => Ok(Opened::default()),
        }
    }

    /// Ends the window's conversation.
    pub async fn close(&self) {
        if let Some((window, _)) = &self.window {
            window.close(self).await;
        }
    }

    /// The window, for the recipient whose conversations are held there.
    fn window_of(&self, recipient: &str) -> Option<&(Arc<Window>, Client)> {
        self.window.as_ref().filter(|_| recipient == &*self.recipient)
    }
}
