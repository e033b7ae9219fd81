//! The gRPC services: each method decodes the request, calls the engine, and encodes the response.

mod admin;
mod build_context;
mod codec;
mod compaction;
mod context;
mod conversation;
mod conversations;
mod convert;
mod edit;
mod end;
mod export;
mod forget;
mod fork;
mod import;
mod limits;
mod memorize;
mod memory;
mod prepare_history;
pub mod proto;
mod recipient;
mod share;
mod state;
mod stats;
mod streams;
mod trace;
mod view;
mod weight;

pub use codec::{MessageCodec, MessageDecoder, MessageEncoder};
pub use convert::decode::grpc_timeout;
pub use convert::status::{
    clearer_status, message_too_large, name_request, panicked, too_large, transport_error, turned_away,
};
pub use import::format as import_format;
pub use limits::RequestLimits;
pub use streams::memory_room::{Held, MessageMemory, Room, no_room, unread};
pub use streams::paced::Pace;

use std::{pin::Pin, sync::Arc};

use futures::Stream;
use tokio::sync::watch;
use tonic::{Response, Status};

use convert::{decode, encode};
use streams::endless::UntilClosing;
use utterd_domain::{Conversation, Refusal, policy::PolicyUpdate};
use utterd_engine::{Applied, Caller, Engine};

/// A stream of responses.
type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Serves every `utterd.v1` service over one engine. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    engine: Arc<Engine>,
    limits: RequestLimits,
    closing: watch::Receiver<bool>,
}

impl Services {
    /// Returns the services of `engine`. Endless streams end once `closing` is true.
    pub fn new(engine: Arc<Engine>, limits: RequestLimits, closing: watch::Receiver<bool>) -> Self {
        Self { engine, limits, closing }
    }

    /// Returns `responses` as a stream that ends when the server closes.
    fn until_closing<T>(
        &self,
        responses: impl Stream<Item = Result<T, Status>> + Send + 'static,
    ) -> Response<Responses<T>>
    where
        T: 'static,
    {
        Response::new(Box::pin(UntilClosing::new(responses, self.closing.clone())))
    }

    /// Returns the caller that the server's guard identified; without a guard, a caller of the namespace `default`.
    fn caller<T>(&self, request: &tonic::Request<T>) -> Caller {
        request.extensions().get::<Caller>().cloned().unwrap_or_default()
    }

    /// Decodes the changes to a policy. Refuses summaries by a model that is not configured.
    fn policy_update(&self, policy: &proto::Policy) -> Result<PolicyUpdate, Refusal> {
        let update = decode::policy("policy", policy)?;
        let models = self.engine.models();
        if update.llm_summaries == Some(true) && models.is_empty() {
            let text = "is true, but the server has no model configured (llm); accepted: false";
            return Err(Refusal::invalid("policy.llm_summaries", text));
        }
        match update.summary_model.as_deref() {
            Some(own) if !own.is_empty() && !models.contains(&own) => {
                let accepted = [models.as_slice(), &["an empty text for the server's own choice"]].concat();
                let text = format!(
                    "is not one of the server's models (llm_model, llm_models); accepted: {}",
                    accepted.join(", ")
                );
                Err(Refusal::invalid("policy.summary_model", text))
            }
            _ => Ok(update),
        }
    }

    /// Returns the capacity as callers of a session see it.
    fn capacity_in(&self, state: &Conversation, session: Option<&str>) -> proto::Capacity {
        let mut capacity = encode::capacity(state, self.status_of(state));
        self.quieten(&mut capacity, state, session);
        capacity
    }

    /// Returns the capacity after a call, as callers of a session see it. A replay repeats the first outcome's numbers.
    fn capacity<T>(&self, applied: &Applied<T>, session: Option<&str>) -> proto::Capacity {
        let outcome = &applied.outcome;
        let mut capacity = proto::Capacity {
            conversation_id: outcome.conversation.as_str().to_owned(),
            revision: encode::long(outcome.revision.get()),
            ..encode::numbers(&outcome.capacity)
        };
        if let Some(state) = &applied.state {
            capacity.recipient_id = state.head.identity.recipient.as_str().to_owned();
            capacity.status = self.status_of(state).into();
        }
        if let Some(state) = applied.state.as_ref().filter(|_| !applied.replayed()) {
            self.quieten(&mut capacity, state, session);
        }
        capacity
    }

    /// Removes the advice to compact if it is silenced for the session.
    fn quieten(&self, capacity: &mut proto::Capacity, state: &Conversation, session: Option<&str>) {
        if capacity.compaction_advice.is_some() && self.engine.is_silenced(state, session) {
            capacity.compaction_advice = None;
        }
    }

    /// Returns the conversation that a call was about; `None` if it has been deleted since.
    async fn conversation_of<T>(&self, applied: &Applied<T>) -> Result<Option<proto::Conversation>, Status> {
        match &applied.state {
            Some(state) => Ok(Some(self.conversation(state).await?)),
            None => Ok(None),
        }
    }

    fn status_of(&self, state: &Conversation) -> proto::ConversationStatus {
        match state.exists() {
            true => encode::status(state.head.status(self.engine.moment(), self.engine.defaults().timeouts)),
            false => proto::ConversationStatus::Unspecified,
        }
    }
}
