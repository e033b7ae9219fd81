//! The conversation of a window: of one session of a client.

use std::{env, time::Duration};

use percent_encoding::percent_decode_str;
use rmcp::{
    RoleServer,
    model::{ClientResult, ServerRequest},
    service::{Peer, PeerRequestOptions, RequestContext},
};
use tokio::sync::{Mutex, MutexGuard};
use tonic::Code;

use super::{caller::Caller, fault::Fault};
use utterd_formats::fit_id;
use utterd_rpc::proto::{
    Conversation, ConversationStatus, CreateConversationRequest, DeleteConversationRequest,
    EndConversationRequest, GetConversationRequest, ListConversationsRequest,
};

/// The label of a window's conversation: its client's name.
const CLIENT: &str = "mcp_client";
/// The label with the directory that the window works in.
const DIRECTORY: &str = "cwd";
/// How long a client may take to say which directory that is.
const ANSWER: Duration = Duration::from_secs(2);
/// Why a conversation ends that nothing was said in for long, as the server words it.
const IDLE: &str = "idle timeout";
/// How many conversations of windows are ended at a time because they are idle.
const MOST_IDLE: i32 = 100;

/// A window. It starts a conversation once something is said in it, and the next one when that has ended.
#[derive(Default)]
pub struct Window {
    own: Mutex<Option<String>>,
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

impl Window {
    /// The window's conversation, unless it has ended.
    pub async fn conversation(&self, caller: &Caller) -> Result<Option<String>, Fault> {
        let mut own = self.own.lock().await;
        Ok(current(&mut own, caller).await?.map(|conversation| conversation.conversation_id))
    }

    /// The conversation for a message. Starts one if there is none, or if the last one is idle and the message
    /// `may_start` another.
    pub async fn open(&self, caller: &Caller, client: &Client, may_start: bool) -> Result<Opened, Fault> {
        let mut own = self.own.lock().await;
        let ended = match current(&mut own, caller).await? {
            Some(current) if may_start && current.status() == ConversationStatus::Idle => {
                Some(current.conversation_id)
            }
            Some(current) => return Ok(Opened { id: current.conversation_id, ..Opened::default() }),
            None => None,
        };
        end_idle(caller).await;
        let id = started(caller, client).await?;
        *own = Some(id.clone());
        Ok(Opened { id, started: true, ended })
    }

    /// Ends the window's conversation, so that others see what came of it; deletes it if nothing was said.
    pub async fn close(&self, caller: &Caller) {
        let mut own = self.own.lock().await;
        let closed = match current(&mut own, caller).await {
            Ok(Some(current)) if current.utterance_count() == 0 => {
                let conversation_id = current.conversation_id;
                let request = DeleteConversationRequest { conversation_id, ..Default::default() };
                caller.server.conversations().delete_conversation(request).await.map(drop)
            }
            Ok(Some(current)) => end(caller, current.conversation_id, "the client disconnected").await,
            _ => return,
        };
        if let Err(status) = closed {
            tracing::warn!(%status, "the conversation of the client that disconnected could not be ended");
        }
    }
}

/// The conversation; forgets its id if it has ended or is no longer there.
async fn current(
    own: &mut MutexGuard<'_, Option<String>>,
    caller: &Caller,
) -> Result<Option<Conversation>, Fault> {
    let Some(conversation_id) = own.clone() else { return Ok(None) };
    let request = GetConversationRequest { conversation_id, ..Default::default() };
    let found = match caller.server.conversations().get_conversation(request).await {
        Ok(response) => response.into_inner().conversation,
        Err(status) if status.code() == Code::NotFound => None,
        Err(status) => return Err(status.into()),
    };
    let found = found.filter(|conversation| conversation.status() != ConversationStatus::Closed);
    if found.is_none() {
        **own = None;
    }
    Ok(found)
}

async fn started(caller: &Caller, client: &Client) -> Result<String, Fault> {
    let directory = client.directory().await;
    let labels = [(CLIENT, Some(client.name.clone())), (DIRECTORY, directory)];
    let labels =
        labels.into_iter().filter_map(|(name, value)| Some((name.to_owned(), fit_id(&value?).into())));
    let request = CreateConversationRequest {
        recipient_id: caller.recipient(None),
        labels: labels.collect(),
        // a message that names only the recipient is not for this window
        inactive: true,
        request_id: format!("{}-start", caller.request_id),
        ..Default::default()
    };
    let created = caller.server.conversations().create_conversation(request).await?.into_inner();
    Ok(created.conversation.unwrap_or_default().conversation_id)
}

/// Ends the conversations of windows that nothing was said in for long: nobody else ends those of windows that were killed.
/// Those that cannot be ended now stay for the next time.
async fn end_idle(caller: &Caller) {
    let request = ListConversationsRequest {
        recipient_id: caller.recipient(None),
        status: ConversationStatus::Idle.into(),
        page_size: MOST_IDLE,
        ..Default::default()
    };
    let Ok(listed) = caller.server.conversations().list_conversations(request).await else { return };
    let listed = listed.into_inner().conversations;
    for idle in listed.into_iter().filter(|conversation| conversation.labels.contains_key(CLIENT)) {
        let _stays = end(caller, idle.conversation_id, IDLE).await;
    }
}

async fn end(caller: &Caller, conversation_id: String, reason: &str) -> Result<(), tonic::Status> {
    let request = EndConversationRequest { conversation_id, reason: reason.into(), ..Default::default() };
    caller.server.conversations().end_conversation(request).await.map(drop)
}

/// The client that makes a call.
#[derive(Clone, Default)]
pub struct Client {
    /// Its name; empty if it gave none.
    name: String,
    /// Where to ask for the directories that it works in, if it tells.
    tells: Option<Peer<RoleServer>>,
}

impl Client {
    /// The client that sent a request.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let tells = context.client_capabilities().is_some_and(|can| can.roots.is_some());
        Self {
            name: context.client_info().map(|client| client.name).unwrap_or_default(),
            tells: tells.then(|| context.peer.clone()),
        }
    }

    /// The directory that it works in: the first of its roots, or else that of this process.
    async fn directory(&self) -> Option<String> {
        let own = || Some(env::current_dir().ok()?.display().to_string());
        self.root().await.or_else(own)
    }

    #[expect(deprecated, reason = "the newest protocol has no roots; clients of the others tell them")]
    async fn root(&self) -> Option<String> {
        let request = ServerRequest::ListRootsRequest(Default::default());
        let options = PeerRequestOptions::with_timeout(ANSWER);
        let asked = self.tells.as_ref()?.send_request_with_option(request, options).await.ok()?;
        let ClientResult::ListRootsResult(listed) = asked.await_response().await.ok()? else { return None };
        let root = listed.roots.into_iter().next()?.uri;
        let path = percent_decode_str(root.strip_prefix("file://").unwrap_or(&root));
        Some(path.decode_utf8_lossy().into_owned())
    }
}
