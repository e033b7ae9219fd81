//! A test's own server, clients for its services, and helpers to call them.

use std::{path::Path, sync::Arc};

use futures::FutureExt;
use tonic::{Response, Status, transport::Channel};
use utterd::{
    config::{Backend, DurableEngine, Settings},
    engine::{
        Caller,
        models::{embedding::Embedder, llm::LlmSummarizer},
    },
    proto::{
        compaction_service_client::CompactionServiceClient, context_service_client::ContextServiceClient,
        conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
        trace_service_client::TraceServiceClient, *,
    },
    server::{Models, Server},
    store::{MemoryStore, Store},
};

use super::{ManualClock, connect, refusal::Refused, server_with};

/// A server and a connection to it.
pub struct Session {
    pub server: Server,
    pub clock: Arc<ManualClock>,
    channel: Channel,
}

impl Session {
    /// A server with the default settings.
    pub async fn new() -> Self {
        Self::with(&Settings::default()).await
    }

    pub async fn with(settings: &Settings) -> Self {
        let (server, clock) = server_with(settings);
        Self::of(server, clock).await
    }

    async fn of(server: Server, clock: Arc<ManualClock>) -> Self {
        Self { channel: connect(&server).await, server, clock }
    }

    /// A server with exactly these settings, wherever they keep the store.
    pub async fn here(settings: &Settings) -> Self {
        let clock = ManualClock::new();
        Self::of(Server::new(settings, clock.clone()).expect("the store opens"), clock).await
    }

    /// A server over the given store.
    pub async fn over(store: Arc<dyn Store>) -> Self {
        Self::at(store, &ManualClock::new()).await
    }

    /// The same with the given clock.
    pub async fn at(store: Arc<dyn Store>, clock: &Arc<ManualClock>) -> Self {
        let server = Server::over(store, &Settings::default(), clock.clone());
        Self::of(server.expect("the settings are good"), clock.clone()).await
    }

    /// The same with the given settings.
    pub async fn over_with(store: Arc<dyn Store>, settings: &Settings) -> Self {
        let clock = ManualClock::new();
        let server = Server::over(store, settings, clock.clone()).expect("the settings are good");
        Self::of(server, clock).await
    }

    async fn made_of(store: Arc<dyn Store>, models: Models) -> Self {
        let clock = ManualClock::new();
        let server = Server::of_parts(store, models, &Settings::default(), clock.clone());
        Self::of(server.expect("the settings are good"), clock).await
    }

    async fn with_models(settings: &Settings, models: Models) -> Self {
        let clock = ManualClock::new();
        let server = Server::with_models(settings, models, clock.clone()).expect("the store opens");
        Self::of(server, clock).await
    }

    /// A server whose summaries wait for the given model.
    pub async fn with_model(model: Arc<dyn LlmSummarizer>) -> Self {
        Self::with_model_over(Arc::new(MemoryStore::new(0)), model).await
    }

    /// The same over the given store.
    pub async fn with_model_over(store: Arc<dyn Store>, model: Arc<dyn LlmSummarizer>) -> Self {
        let models = Models { summarizer: Some(model), embedder: None };
        Self::made_of(store, models).await.summarising()
    }

    /// The same over the store in `directory`, a new one if that is empty.
    pub async fn with_model_in(
        directory: &Path,
        engine: DurableEngine,
        model: Arc<dyn LlmSummarizer>,
    ) -> Self {
        let models = Models { summarizer: Some(model), embedder: None };
        Self::with_models(&in_files(directory, engine), models).await.summarising()
    }

    fn summarising(self) -> Self {
        tokio::spawn(self.server.engine().clone().run_llm_summaries());
        self
    }

    /// A server over the given store, with a model that embeds when a test makes it.
    pub async fn with_embedder_over(store: Arc<dyn Store>, embedder: Arc<dyn Embedder>) -> Self {
        let models = Models { summarizer: None, embedder: Some(embedder) };
        Self::made_of(store, models).await
    }

    /// A server over the store in `directory`, with a model that embeds when a test makes it.
    pub async fn with_embedder_in(
        directory: &Path,
        engine: DurableEngine,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let models = Models { summarizer: None, embedder: Some(embedder) };
        Self::with_models(&in_files(directory, engine), models).await
    }

    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub fn memory(&self) -> MemoryServiceClient<Channel> {
        MemoryServiceClient::new(self.channel())
    }

    pub fn conversations(&self) -> ConversationServiceClient<Channel> {
        ConversationServiceClient::new(self.channel())
    }

    pub fn context(&self) -> ContextServiceClient<Channel> {
        ContextServiceClient::new(self.channel())
    }

    pub fn compactions(&self) -> CompactionServiceClient<Channel> {
        CompactionServiceClient::new(self.channel())
    }

    pub fn trace(&self) -> TraceServiceClient<Channel> {
        TraceServiceClient::new(self.channel())
    }

    /// The cursor of the newest event: it advances with each operation that takes effect.
    pub fn cursor(&self) -> String {
        let caller = Caller::default();
        let events = self.server.engine().watch_events(&caller, None).now_or_never();
        let events = events.expect("events are kept in memory").expect("a watch from now on");
        events.cursor().to_string()
    }

    /// Memorizes in the default recipient's conversation.
    pub async fn say(&self, utterances: Vec<NewUtterance>) -> MemorizeResponse {
        self.memory().memorize(memorize(utterances)).await.reply()
    }

    /// Memorizes `count` user utterances, one by one; returns what left the window.
    pub async fn say_many(&self, count: usize) -> Vec<i64> {
        let mut evicted = Vec::new();
        for number in 1..=count {
            let response = self.say(vec![user(&format!("message {number}"))]).await;
            evicted.extend(sequences(&response.evicted));
        }
        evicted
    }

    pub async fn capacity(&self) -> Capacity {
        let response = self.memory().get_capacity_info(GetCapacityInfoRequest::default()).await.reply();
        response.capacity.expect("a capacity")
    }

    pub async fn summary(&self) -> GetSummaryResponse {
        self.conversations().get_summary(GetSummaryRequest::default()).await.reply()
    }

    /// The utterances that are listed by default: those in the window that are not forgotten.
    pub async fn window(&self) -> Vec<Utterance> {
        self.list(ListUtterancesRequest::default()).await
    }

    /// Every stored utterance.
    pub async fn stored(&self) -> Vec<Utterance> {
        self.stored_in("").await
    }

    /// All pages of a list.
    pub async fn list(&self, mut request: ListUtterancesRequest) -> Vec<Utterance> {
        let mut listed = Vec::new();
        loop {
            let page = self.conversations().list_utterances(request.clone()).await.reply();
            listed.extend(page.utterances);
            if page.next_page_token.is_empty() {
                return listed;
            }
            request.page_token = page.next_page_token;
        }
    }

    pub async fn forget(&self, instructions: &str, mode: ForgetMode) -> ForgetResponse {
        self.memory().forget(forget(instructions, mode)).await.reply()
    }

    /// Memorizes in the conversation `id`.
    pub async fn say_in(&self, id: &str, utterances: Vec<NewUtterance>) -> MemorizeResponse {
        let request = MemorizeRequest { conversation_id: id.to_owned(), ..memorize(utterances) };
        self.memory().memorize(request).await.reply()
    }

    pub async fn forget_in(&self, id: &str, instructions: &str, mode: ForgetMode) -> ForgetResponse {
        let request = ForgetRequest { conversation_id: id.to_owned(), ..forget(instructions, mode) };
        self.memory().forget(request).await.reply()
    }

    pub async fn get(&self, id: &str) -> Conversation {
        let view = ConversationView::Full.into();
        let request = GetConversationRequest { conversation_id: id.to_owned(), view, ..Default::default() };
        self.conversations().get_conversation(request).await.reply().conversation.expect("a conversation")
    }

    /// Every utterance that the conversation `id` stores.
    pub async fn stored_in(&self, id: &str) -> Vec<Utterance> {
        let (conversation_id, include_archive, include_forgotten) = (id.to_owned(), true, true);
        let request = ListUtterancesRequest {
            conversation_id,
            include_archive,
            include_forgotten,
            ..Default::default()
        };
        self.list(request).await
    }

    pub async fn end(&self, id: &str) -> Conversation {
        let request = EndConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        self.conversations().end_conversation(request).await.reply().conversation.expect("a conversation")
    }

    pub async fn delete(&self, id: &str) -> DeleteConversationResponse {
        let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        self.conversations().delete_conversation(request).await.reply()
    }

    pub async fn update_policy(&self, policy: Policy) -> UpdateConversationResponse {
        self.conversations().update_conversation(policy_update(policy)).await.reply()
    }

    /// Creates the default recipient's conversation with the given policy.
    pub async fn create_with(&self, policy: Policy) {
        let request = CreateConversationRequest { policy: Some(policy), ..Default::default() };
        self.conversations().create_conversation(request).await.reply();
    }

    /// Pins or unpins the utterance with this sequence.
    pub async fn pin(&self, sequence: i64, pinned: bool) -> UpdateUtteranceResponse {
        let request = UpdateUtteranceRequest {
            utterance_id: self.id_of(sequence).await,
            pinned,
            update_mask: mask(&["pinned"]),
            ..Default::default()
        };
        self.conversations().update_utterance(request).await.reply()
    }

    pub async fn id_of(&self, sequence: i64) -> String {
        let stored = self.stored().await;
        let utterance = stored.into_iter().find(|utterance| utterance.sequence == sequence);
        utterance.expect("the utterance is stored").utterance_id
    }
}

fn in_files(directory: &Path, engine: DurableEngine) -> Settings {
    let (backend, data_dir) = (Backend::Durable(engine), directory.to_owned());
    Settings { backend, data_dir, ..Settings::default() }
}

/// A result as a test expects it.
pub trait Reply<T> {
    /// The response; fails on an error.
    fn reply(self) -> T;
    /// The error; fails on a response.
    fn refusal(self) -> Refused;
}

impl<T: std::fmt::Debug> Reply<T> for Result<Response<T>, Status> {
    #[track_caller]
    fn reply(self) -> T {
        match self {
            Ok(response) => response.into_inner(),
            Err(status) => panic!("{:?}: {}", status.code(), status.message()),
        }
    }

    #[track_caller]
    fn refusal(self) -> Refused {
        match self {
            Ok(response) => panic!("not refused: {:?}", response.into_inner()),
            Err(status) => Refused::new(status),
        }
    }
}

pub fn memorize(utterances: Vec<NewUtterance>) -> MemorizeRequest {
    MemorizeRequest { utterances, ..Default::default() }
}

pub fn forget(instructions: &str, mode: ForgetMode) -> ForgetRequest {
    ForgetRequest { instructions: instructions.to_owned(), mode: mode.into(), ..Default::default() }
}

pub fn policy_update(policy: Policy) -> UpdateConversationRequest {
    UpdateConversationRequest { policy: Some(policy), update_mask: mask(&["policy"]), ..Default::default() }
}

pub fn mask(paths: &[&str]) -> Option<prost_types::FieldMask> {
    Some(prost_types::FieldMask { paths: paths.iter().map(ToString::to_string).collect() })
}

pub fn said(role: Role, content: &str) -> NewUtterance {
    NewUtterance { role: role.into(), content: content.to_owned(), ..Default::default() }
}

pub fn system(content: &str) -> NewUtterance {
    said(Role::System, content)
}

pub fn user(content: &str) -> NewUtterance {
    said(Role::User, content)
}

pub fn assistant(content: &str) -> NewUtterance {
    said(Role::Assistant, content)
}

/// An assistant's tool calls.
pub fn calls(ids: &[&str]) -> NewUtterance {
    let call =
        |id: &&str| ToolCall { id: id.to_string(), name: "find".to_owned(), arguments_json: "{}".to_owned() };
    NewUtterance { tool_calls: ids.iter().map(call).collect(), ..assistant("") }
}

/// A tool's result.
pub fn result(call: &str, content: &str) -> NewUtterance {
    NewUtterance { tool_call_id: call.to_owned(), ..said(Role::Tool, content) }
}

pub fn sequences(refs: &[UtteranceRef]) -> Vec<i64> {
    refs.iter().map(|utterance| utterance.sequence).collect()
}

pub fn sequences_of(utterances: &[Utterance]) -> Vec<i64> {
    utterances.iter().map(|utterance| utterance.sequence).collect()
}

pub fn ranges(ranges: &[SequenceRange]) -> Vec<(i64, i64)> {
    ranges.iter().map(|range| (range.first, range.last)).collect()
}

/// Lets the server do its work; it shares the test's thread.
pub async fn settle() {
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
}
