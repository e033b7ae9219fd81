//! A server as one caller sees it, with the caller's window.

use std::{ops::Deref, sync::Arc};

use ulid::Ulid;

use super::{
    caller::Caller,
    fault::Fault,
    window::{Client, Opened, Window},
};
use crate::{access::Identity, client::Connection};

/// A server as one caller sees it.
#[derive(Clone)]
pub struct Memory {
    caller: Caller,
    /// The window of calls that name no conversation, if there are windows, and its client.
    window: Option<(Arc<Window>, Client)>,
}

impl Deref for Memory {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Memory {
    /// The server behind `connection`; `recipient` is meant if a call names none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        let caller = Caller {
            server: connection,
            default_recipient: recipient.into(),
            request_id: Ulid::new().to_string(),
        };
        Self { caller, window: None }
    }

    /// The same server for a client in this window.
    pub fn within(&self, window: &Arc<Window>, client: Client) -> Self {
        Self { window: Some((window.clone(), client)), ..self.clone() }
    }

    /// The same server for the caller with this identity.
    pub fn of(&self, identity: Identity) -> Self {
        let server = self.server.on_behalf_of(identity);
        Self { caller: Caller { server, ..self.caller.clone() }, ..self.clone() }
    }

    /// The same server for another call.
    pub fn anew(&self) -> Self {
        let request_id = Ulid::new().to_string();
        Self { caller: Caller { request_id, ..self.caller.clone() }, ..self.clone() }
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
            Some((window, _)) => window.conversation(&self.caller).await?,
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
            (None, Some((window, client))) => window.open(&self.caller, client, may_start).await,
            (None, None) => Ok(Opened::default()),
        }
    }

    /// Ends the window's conversation.
    pub async fn close(&self) {
        if let Some((window, _)) = &self.window {
            window.close(&self.caller).await;
        }
    }

    /// The window, for the recipient whose conversations are held there.
    fn window_of(&self, recipient: &str) -> Option<&(Arc<Window>, Client)> {
        self.window.as_ref().filter(|_| recipient == self.recipient(None))
    }
}
