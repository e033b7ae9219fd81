//! The calls that a chat makes to the server.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use tonic::{Code, Response, Status};
use ulid::Ulid;

use super::args;
use crate::{
    args::Preset,
    client::Connection,
    conversations::stored,
    errors::{CliError, blames, reason},
    messages::compact::{compacted, nothing_to_compact},
    terminal::note,
};
use utterd_rpc::proto::{
    AnswerCompactionPromptRequest, BuildContextRequest, Capacity, CompactionAnswer, Conversation,
    ConversationStatus, CreateConversationRequest, EndConversationRequest, GetCapacityInfoRequest,
    GetSummaryRequest, ListOrder, ListUtterancesRequest, MemorizeRequest, MemorizeResponse, NewUtterance,
    Policy, SummaryPlacement, Utterance,
};

/// How often a server that does not answer is tried again: with each attempt, the pause before it doubles.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt.
const PAUSE: Duration = Duration::from_millis(250);
/// The newest utterances that are read.
const RECENT: i32 = 100;

/// A conversation as a chat opens it.
#[derive(Default)]
pub struct Opening {
    /// The conversation.
    pub conversation_id: String,
    /// The newest utterances of its window, the oldest of them first.
    pub recent: Vec<Utterance>,
    /// How full the window is.
    pub capacity: Capacity,
    /// What there is to say about it.
    pub notes: Vec<String>,
}

/// The server, and the session that talks to it.
pub struct Server {
    connection: Connection,
    session_id: String,
    /// How many messages it has stored.
    stored: u64,
    recipient: String,
    preset: Preset,
    /// The model that replies. It also summarises the conversation, if the server can use it.
    model: Option<String>,
}

impl Server {
    /// Starts a session over `connection`.
    pub fn new(connection: Connection, args: &args::Chat) -> Self {
        Self {
            connection,
            session_id: format!("chat-{}", Ulid::new()),
            stored: 0,
            recipient: args.recipient.clone(),
            preset: args.preset,
            model: args.model.clone(),
        }
    }

    /// Opens the conversation named, or else the recipient's active one; creates it if there is none.
    pub async fn open(&self, conversation_id: &str) -> Result<Opening, CliError> {
        let conversation =
            match stored::conversation(&self.connection, conversation_id, &self.recipient).await {
                Ok(conversation) => conversation,
                Err(status) if status.code() == Code::NotFound => return self.create(conversation_id).await,
                Err(status) => return Err(status.into()),
            };
        let note = match conversation.status() {
            ConversationStatus::Closed => "this conversation has ended; /new starts another",
            _ => "this conversation goes on; /new starts another, /help lists the commands",
        };
        self.opened(conversation, note).await
    }

    async fn create(&self, conversation_id: &str) -> Result<Opening, CliError> {
        let request = |summary_model| CreateConversationRequest {
            conversation_id: conversation_id.to_owned(),
            recipient_id: self.recipient.clone(),
            policy: Some(Policy { preset: self.preset.wire().into(), summary_model, ..Default::default() }),
            ..Default::default()
        };
        let mut conversations = self.connection.conversations();
        let (response, summarized) =
            match conversations.create_conversation(request(self.model.clone())).await {
                Err(status) if blames(&status, "policy.summary_model") => (
                    conversations.create_conversation(request(None)).await?,
                    "; the server does not have the model, and summarises it without",
                ),
                response => (response?, ""),
            };
        let conversation = response.into_inner().conversation.unwrap_or_default();
        self.opened(conversation, &format!("a new conversation; /help lists the commands{summarized}")).await
    }

    async fn opened(&self, conversation: Conversation, note: &str) -> Result<Opening, CliError> {
        let mut notes = vec![note.to_owned()];
        let conversation_id = conversation.conversation_id;
        let (capacity, durable) = self.capacity(&conversation_id).await?;
        if durable == Some(false) {
            notes.push("the server keeps it in memory only: it is lost when the server ends".into());
        }
        let recent = self.recent(&conversation_id).await?;
        Ok(Opening { conversation_id, recent, capacity, notes })
    }

    /// Ends a conversation, unless it has ended, and starts another.
    pub async fn start_another(&self, conversation_id: &str) -> Result<Opening, CliError> {
        let request = EndConversationRequest {
            conversation_id: conversation_id.to_owned(),
            reason: "another one was started".into(),
            ..Default::default()
        };
        match self.connection.conversations().end_conversation(request).await {
            Err(status) if status.code() != Code::FailedPrecondition && !is_lost(&status) => {
                return Err(status.into());
            }
            _ => {}
        }
        let mut opening = self.create("").await?;
        opening.notes.insert(0, format!("{conversation_id} has ended"));
        Ok(opening)
    }

    /// Stores a draft once, however many attempts it takes: until something is stored, the same text is the same attempt.
    pub async fn memorize(
        &mut self,
        conversation_id: &str,
        draft: NewUtterance,
    ) -> Result<MemorizeResponse, CliError> {
        let mut text = DefaultHasher::new();
        (&draft.content, draft.role).hash(&mut text);
        let request = MemorizeRequest {
            conversation_id: conversation_id.to_owned(),
            utterances: vec![draft],
            request_id: format!("{}-{}-{:x}", self.session_id, self.stored, text.finish()),
            session_id: self.session_id.clone(),
            ..Default::default()
        };
        let stored = patiently(|| async { self.connection.memory().memorize(request.clone()).await }).await?;
        self.stored += 1;
        Ok(stored)
    }

    /// The conversation as messages for a model, a JSON array; `whole` lifts its token limit.
    pub async fn messages(&self, conversation_id: &str, whole: bool) -> Result<String, CliError> {
        let request = BuildContextRequest {
            conversation_id: conversation_id.to_owned(),
            token_budget: whole.then_some(i32::MAX),
            max_turns: Some(0),
            summary_placement: SummaryPlacement::UserMessage.into(),
            ..Default::default()
        };
        let build = || async { self.connection.contexts().build_context(request.clone()).await };
        Ok(patiently(build).await?.messages_json)
    }

    /// The newest utterances of the window, the oldest of them first.
    pub async fn recent(&self, conversation_id: &str) -> Result<Vec<Utterance>, CliError> {
        let request = ListUtterancesRequest {
            conversation_id: conversation_id.to_owned(),
            order: ListOrder::NewestFirst.into(),
            include_forgotten: true,
            page_size: RECENT,
            ..Default::default()
        };
        let response = self.connection.conversations().list_utterances(request).await?;
        Ok(response.into_inner().utterances.into_iter().rev().collect())
    }

    /// How full the window is, and whether the conversation survives the server, if that is known.
    pub async fn capacity(&self, conversation_id: &str) -> Result<(Capacity, Option<bool>), CliError> {
        let request = GetCapacityInfoRequest {
            conversation_id: conversation_id.to_owned(),
            session_id: self.session_id.clone(),
            ..Default::default()
        };
        let response = self.connection.memory().get_capacity_info(request).await?.into_inner();
        Ok((response.capacity.unwrap_or_default(), response.durable))
    }

    /// Answers the advice to compact; returns what there is to tell, and how full the window is then.
    pub async fn answer(
        &self,
        conversation_id: &str,
        answer: CompactionAnswer,
    ) -> Result<(String, Capacity), CliError> {
        let never = answer == CompactionAnswer::NeverThisSession;
        let request = AnswerCompactionPromptRequest {
            conversation_id: conversation_id.to_owned(),
            answer: answer.into(),
            session_id: if never { self.session_id.clone() } else { String::new() },
            ..Default::default()
        };
        let response = self.connection.compactions().answer_compaction_prompt(request).await?.into_inner();
        let capacity = response.capacity.unwrap_or_default();
        let text = match response.compaction {
            Some(compaction) => compacted(&compaction, false),
            None if response.nothing_to_compact => nothing_to_compact(&capacity),
            None if never => {
                "you will not be asked again in this session; /compact compacts at any time".into()
            }
            None => String::new(),
        };
        Ok((text, capacity))
    }

    /// The summary.
    pub async fn summary(&self, conversation_id: &str) -> Result<String, CliError> {
        let request = GetSummaryRequest { conversation_id: conversation_id.to_owned(), ..Default::default() };
        let text = self.connection.conversations().get_summary(request).await?.into_inner().text;
        let none = "nothing has left the window, so there is no summary";
        Ok(if text.is_empty() { none.into() } else { text })
    }
}

/// Repeats a call, with pauses, while no server answers. Only for calls that are safe to repeat.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, Status>
where
    F: Future<Output = Result<Response<T>, Status>>,
{
    for attempt in 0..ATTEMPTS {
        match call().await {
            // nobody here cancels a call: a connection that ends while it is used does
            Err(status) if matches!(status.code(), Code::Unavailable | Code::Cancelled) => {
                if attempt == 0 {
                    note("! the server does not answer: trying again…");
                }
                tokio::time::sleep(PAUSE * 2_u32.pow(attempt)).await;
            }
            other => return other.map(Response::into_inner),
        }
    }
    call().await.map(Response::into_inner)
}

/// Whether the server has no such conversation.
fn is_lost(status: &Status) -> bool {
    reason(status) == "CONVERSATION_NOT_FOUND"
}
