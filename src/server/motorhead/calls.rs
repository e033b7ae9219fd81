//! The calls that the requests stand for.

use tonic::{Code, Request};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::wire::{Acknowledged, Failure, Found, Health, Memory, Message, Posted, Sought};
use crate::{
    domain::quoted,
    engine::{Clock as _, SystemClock},
    proto::{
        CreateConversationRequest, DeleteConversationRequest, GetStateRequest, GetSummaryRequest,
        ListConversationsRequest, ListOrder, ListUtterancesRequest, MemorizeRequest, RememberRequest,
        StateChange, StateValue, UpdateStateRequest, Utterance,
        conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
        state_value::Value,
    },
    server::{plain_http::Carried, transport::http2::Serves},
};

/// The name of the state with a context that was posted.
const CONTEXT: &str = "motorhead_context";
/// Sessions on a page, unless a request says otherwise.
const PAGE: i32 = 100;
/// Matches of a search.
const MATCHES: i32 = 10;

/// The calls of one request.
pub struct Session<S> {
    memory: MemoryServiceClient<S>,
    conversations: ConversationServiceClient<S>,
    health: HealthClient<S>,
    carried: Carried,
    id: String,
}

impl<S: Serves> Session<S> {
    /// The calls of a request.
    pub fn new(service: S, carried: Carried) -> Self {
        Self {
            memory: MemoryServiceClient::new(service.clone()),
            conversations: ConversationServiceClient::new(service.clone()),
            health: HealthClient::new(service),
            carried,
            id: String::new(),
        }
    }

    /// Calls about the session `id`.
    pub fn of(self, id: String) -> Self {
        Self { id, ..self }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        self.carried.call(message)
    }

    /// Whether calls are accepted.
    pub async fn health(mut self) -> Result<Health, Failure> {
        let request = self.request(HealthCheckRequest::default());
        match self.health.check(request).await?.into_inner().status() {
            ServingStatus::Serving => Ok(Health { now: SystemClock.now().0 / 1_000 }),
            _ => Err(tonic::Status::unavailable("the server accepts no writes").into()),
        }
    }

    /// The ids of the sessions, the last started first: `page` (from 1) and `size` of `query` say which.
    pub async fn list(mut self, query: &str) -> Result<Vec<String>, Failure> {
        let given: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).collect();
        let number = |name: &str, usual: i32| match given.iter().find(|(given, _)| given == name) {
            None => Ok(usual),
            Some((_, text)) => text.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
                Failure::bad(format!("{name} is {}; accepted: a whole number from 1", quoted(text)))
            }),
        };
        let (page, page_size) = (number("page", 1)?, number("size", PAGE)?);
        let mut asked = ListConversationsRequest { page_size, ..Default::default() };
        for _ in 1..page {
            let request = self.request(asked.clone());
            asked.page_token =
                self.conversations.list_conversations(request).await?.into_inner().next_page_token;
            if asked.page_token.is_empty() {
                return Ok(Vec::new());
            }
        }
        let request = self.request(asked);
        let found = self.conversations.list_conversations(request).await?.into_inner();
        Ok(found.conversations.into_iter().map(|it| it.conversation_id).collect())
    }

    /// The utterances in the window, and the context of earlier ones. An unknown session is empty.
    pub async fn memory(mut self) -> Result<Memory, Failure> {
        let mut memory = Memory::default();
        let mut asked = ListUtterancesRequest {
            conversation_id: self.id.clone(),
            order: ListOrder::NewestFirst.into(),
            ..Default::default()
        };
        loop {
            let request = self.request(asked.clone());
            let page = match self.conversations.list_utterances(request).await {
                Err(status) if status.code() == Code::NotFound => return Ok(memory),
                page => page?.into_inner(),
            };
            memory.tokens += page.utterances.iter().map(tokens).sum::<i64>();
            memory
                .messages
                .extend(page.utterances.into_iter().filter(|it| !it.content.is_empty()).map(Message::from));
            asked.page_token = page.next_page_token;
            if asked.page_token.is_empty() {
                break;
            }
        }
        let request =
            self.request(GetSummaryRequest { conversation_id: self.id.clone(), ..Default::default() });
        let summary = self.conversations.get_summary(request).await?.into_inner();
        memory.tokens += i64::from(summary.token_count());
        let parts = [self.context().await?, summary.text];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        memory.context = (!parts.is_empty()).then(|| parts.join("\n"));
        Ok(memory)
    }

    /// Adds messages, and replaces the context if there is one.
    pub async fn post(mut self, posted: Posted) -> Result<Acknowledged, Failure> {
        if !posted.messages.is_empty() {
            let utterances = posted.messages.into_iter().map(Into::into).collect();
            let message = MemorizeRequest {
                conversation_id: self.id.clone(),
                utterances,
                lenient: true,
                ..Default::default()
            };
            let request = self.request(message);
            self.memory.memorize(request).await?;
        }
        if let Some(context) = posted.context {
            self.keep(context).await?;
        }
        Ok(Acknowledged::OK)
    }

    /// Deletes the session; it need not exist.
    pub async fn delete(mut self) -> Result<Acknowledged, Failure> {
        let request = self
            .request(DeleteConversationRequest { conversation_id: self.id.clone(), ..Default::default() });
        match self.conversations.delete_conversation(request).await {
            Err(status) if status.code() != Code::NotFound => Err(status.into()),
            _ => Ok(Acknowledged::OK),
        }
    }

    /// The utterances of the session that are about a text, the nearest first.
    pub async fn retrieve(mut self, sought: Sought) -> Result<Vec<Found>, Failure> {
        let message = RememberRequest {
            conversation_id: self.id.clone(),
            prompt: sought.text,
            page_size: MATCHES,
            ..Default::default()
        };
        let request = self.request(message);
        match self.memory.remember(request).await {
            Err(status) if status.code() == Code::NotFound => Ok(Vec::new()),
            found => Ok(found?.into_inner().matches.into_iter().map(Found::from).collect()),
        }
    }

    /// The context that was posted; empty if none was.
    async fn context(&mut self) -> Result<String, Failure> {
        let message = GetStateRequest {
            conversation_id: self.id.clone(),
            names: vec![CONTEXT.to_owned()],
            ..Default::default()
        };
        let request = self.request(message);
        let state = self.conversations.get_state(request).await?.into_inner();
        Ok(match state.values.into_iter().next().and_then(|value| value.value) {
            Some(Value::Data(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => String::new(),
        })
    }

    async fn keep(&mut self, context: String) -> Result<(), Failure> {
        let create = CreateConversationRequest { conversation_id: self.id.clone(), ..Default::default() };
        match self.conversations.create_conversation(self.request(create)).await {
            Err(status) if status.code() != Code::AlreadyExists => return Err(status.into()),
            _ => {}
        }
        let value = StateValue {
            name: CONTEXT.to_owned(),
            value: Some(Value::Data(context.into_bytes())),
            version: 0,
        };
        let change = Some(StateChange { set: vec![value], ..Default::default() });
        let message = UpdateStateRequest { conversation_id: self.id.clone(), change, ..Default::default() };
        let request = self.request(message);
        self.conversations.update_state(request).await?;
        Ok(())
    }
}

fn tokens(utterance: &Utterance) -> i64 {
    utterance.token_count.unwrap_or(0).into()
}
