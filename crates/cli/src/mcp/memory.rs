//! A server as one caller sees it, with the caller's window: one session of a client.

use std::{env, sync::Arc};

use tokio::sync::Mutex;
use tonic::{Code, Status};
use ulid::Ulid;

use super::fault::Fault;
use crate::{access::Identity, client::Connection, conversations::stored};
use utterd_formats::fit_id;
use utterd_rpc::proto::{
    Conversation, ConversationStatus, CreateConversationRequest, DeleteConversationRequest,
    EndConversationRequest, ListConversationsRequest,
};

/// The label of a window's conversation: its client's name.
const CLIENT: &str = "mcp_client";
/// The label with the directory of this process, in which its client works.
const DIRECTORY: &str = "cwd";
/// Why a conversation ends that nothing was said in for long, as the server words it.
const IDLE: &str = "idle timeout";
/// How many conversations of windows are ended at a time because they are idle.
const MOST_IDLE: i32 = 100;

/// The conversation of a window. It starts once something is said in the window, and the next one when it has ended.
pub type Window = Mutex<Option<String>>;

/// A server as one caller sees it.
#[derive(Clone)]
pub struct Memory {
    /// The server.
    pub server: Connection,
    /// The recipient of a call that names none.
    default_recipient: Arc<str>,
    /// The id of the call, the same in each attempt.
    pub request_id: String,
    /// The window of calls that name no conversation, if there are windows, and its client's name.
    window: Option<(Arc<Window>, String)>,
}

/// The conversation that a message goes to.
#[derive(Default)]
pub struct Opened {
    /// Its id.
    pub id: String,
    /// Whether it was started for the message.
    pub started: bool,
    /// The conversation before it, if that had been idle and has ended now.
    pub ended: Option<String>,
}

impl Memory {
    /// The server behind `connection`; `recipient` is meant if a call names none.
    pub fn new(connection: Connection, recipient: &str) -> Self {
        let request_id = Ulid::new().to_string();
        Self { server: connection, default_recipient: recipient.into(), request_id, window: None }
    }

    /// The same server for a client in this window.
    pub fn within(&self, window: &Arc<Window>, client: String) -> Self {
        Self { window: Some((window.clone(), client)), ..self.clone() }
    }

    /// The same server for the caller with this identity.
    pub fn of(&self, identity: Identity) -> Self {
        Self { server: self.server.on_behalf_of(identity), ..self.clone() }
    }

    /// The same server for another call.
    pub fn anew(&self) -> Self {
        Self { request_id: Ulid::new().to_string(), ..self.clone() }
    }

    /// The recipient that is named, or else the default one.
    pub fn recipient(&self, named: Option<String>) -> String {
        named.filter(|named| !named.is_empty()).unwrap_or_else(|| self.default_recipient.to_string())
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
            Some((window, _)) => self.current(&mut *window.lock().await).await?,
            None => None,
        };
        Ok((own.map(|own| own.conversation_id).unwrap_or_default(), recipient))
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
            (None, Some((window, client))) => {
                self.open_in(&mut *window.lock().await, client, may_start).await
            }
            (None, None) => Ok(Opened::default()),
        }
    }

    /// The conversation of a window for a message. Starts one if there is none, or if the last one is idle and the message
    /// `may_start` another.
    async fn open_in(
        &self,
        own: &mut Option<String>,
        client: &str,
        may_start: bool,
    ) -> Result<Opened, Fault> {
        let ended = match self.current(own).await? {
            Some(current) if may_start && current.status() == ConversationStatus::Idle => {
                Some(current.conversation_id)
            }
            Some(current) => return Ok(Opened { id: current.conversation_id, ..Opened::default() }),
            None => None,
        };
        self.end_idle().await;
        let id = self.started(client).await?;
        *own = Some(id.clone());
        Ok(Opened { id, started: true, ended })
    }

    /// Ends the window's conversation, so that others see what came of it; deletes it if nothing was said.
    pub async fn close(&self) {
        let Some((window, _)) = &self.window else { return };
        let closed = match self.current(&mut *window.lock().await).await {
            Ok(Some(current)) if current.utterance_count() == 0 => {
                let conversation_id = current.conversation_id;
                let request = DeleteConversationRequest { conversation_id, ..Default::default() };
                self.server.conversations().delete_conversation(request).await.map(drop)
            }
            Ok(Some(current)) => self.end(current.conversation_id, "the client disconnected").await,
            _ => return,
        };
        if let Err(status) = closed {
            tracing::warn!(%status, "the conversation of the client that disconnected could not be ended");
        }
    }

    /// The window, for the recipient whose conversations are held there.
    fn window_of(&self, recipient: &str) -> Option<&(Arc<Window>, String)> {
        self.window.as_ref().filter(|_| recipient == self.recipient(None))
    }

    /// The conversation; forgets its id if it has ended or is no longer there.
    async fn current(&self, own: &mut Option<String>) -> Result<Option<Conversation>, Fault> {
        let Some(conversation_id) = own.clone() else { return Ok(None) };
        let found = match stored::conversation(&self.server, &conversation_id, "").await {
            Ok(conversation) => Some(conversation),
            Err(status) if status.code() == Code::NotFound => None,
            Err(status) => return Err(status.into()),
        };
        let found = found.filter(|conversation| conversation.status() != ConversationStatus::Closed);
        if found.is_none() {
            *own = None;
        }
        Ok(found)
    }

    async fn started(&self, client: &str) -> Result<String, Fault> {
        let directory = env::current_dir().ok().map(|directory| directory.display().to_string());
        let labels = [(CLIENT, Some(client.to_owned())), (DIRECTORY, directory)];
        let labels =
            labels.into_iter().filter_map(|(name, value)| Some((name.to_owned(), fit_id(&value?).into())));
        let request = CreateConversationRequest {
            recipient_id: self.recipient(None),
            labels: labels.collect(),
            // a message that names only the recipient is not for this window
            inactive: true,
            request_id: format!("{}-start", self.request_id),
            ..Default::default()
        };
        let created = self.server.conversations().create_conversation(request).await?.into_inner();
        Ok(created.conversation.unwrap_or_default().conversation_id)
    }

    /// Ends the conversations of windows that nothing was said in for long: nobody else ends those of windows that were killed.
    /// Those that cannot be ended now stay for the next time.
    async fn end_idle(&self) {
        let request = ListConversationsRequest {
            recipient_id: self.recipient(None),
            status: ConversationStatus::Idle.into(),
            page_size: MOST_IDLE,
            ..Default::default()
        };
        let Ok(listed) = self.server.conversations().list_conversations(request).await else { return };
        let listed = listed.into_inner().conversations;
        for idle in listed.into_iter().filter(|conversation| conversation.labels.contains_key(CLIENT)) {
            let _stays = self.end(idle.conversation_id, IDLE).await;
        }
    }

    async fn end(&self, conversation_id: String, reason: &str) -> Result<(), Status> {
        let request = EndConversationRequest { conversation_id, reason: reason.into(), ..Default::default() };
        self.server.conversations().end_conversation(request).await.map(drop)
    }
}
