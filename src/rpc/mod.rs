//! The gRPC services: each method decodes, calls the engine, and encodes.

mod admin;
mod build_context;
mod compaction;
mod context;
mod conversation;
mod conversations;
mod decode;
mod edit;
mod encode;
mod end;
mod endless;
mod export;
mod forget;
mod fork;
mod import;
mod limits;
mod memorize;
mod memory;
mod memory_room;
mod messages;
mod paced;
mod page_token;
mod prepare_history;
mod recipient;
mod share;
mod state;
mod stats;
mod status;
mod trace;
mod view;

pub use limits::RequestLimits;
pub use memory_room::{Held, Purpose, Room};
pub use paced::Pace;
pub use status::{clearer_status, message_too_large, transport_error, turned_away};

use std::{pin::Pin, sync::Arc};

use futures::Stream;
use tokio::sync::watch;
use tonic::{Response, Status};

use crate::{
    domain::{Conversation, Refusal, policy::PolicyUpdate},
    engine::{Applied, Caller, Engine},
    proto,
};
use endless::UntilClosing;

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
    /// The services of `engine`. Streams that would go on for ever end once `closing` is true.
    pub fn new(engine: Arc<Engine>, limits: RequestLimits, closing: watch::Receiver<bool>) -> Self {
        Self { engine, limits, closing }
    }

    /// `responses`, until the server closes.
    fn until_closing<T>(
        &self,
        responses: impl Stream<Item = Result<T, Status>> + Send + 'static,
    ) -> Response<Responses<T>>
    where
        T: 'static,
    {
        Response::new(Box::pin(UntilClosing::new(responses, self.closing.clone())))
    }

    /// Who calls: whom the server's guard found, or, where nothing guards it, a caller of the namespace
    /// `default`.
    fn caller<T>(&self, request: &tonic::Request<T>) -> Caller {
        request.extensions().get::<Caller>().cloned().unwrap_or_default()
    }

    /// Changes to a policy. Refuses summaries by a model where none is configured, or by another than those.
    fn policy_update(&self, policy: &proto::Policy) -> Result<PolicyUpdate, Refusal> {
        let update = decode::policy("policy", policy)?;
        let models = self.engine.models();
        if update.llm_summaries == Some(true) && models.is_empty() {
            let text = "is true, but the server has no model configured (llm); accepted is false";
            return Err(Refusal::invalid("policy.llm_summaries", text));
        }
        match update.summary_model.as_deref() {
            Some(own) if !own.is_empty() && !models.contains(&own) => {
                let accepted = [models.as_slice(), &["an empty text for the server's own choice"]].concat();
                let text = format!(
                    "is none of the models that the server may ask (llm_model, llm_models); accepted is {}",
                    accepted.join(", ")
                );
                Err(Refusal::invalid("policy.summary_model", text))
            }
            _ => Ok(update),
        }
    }

    /// The capacity as callers of a session see it.
    fn capacity_in(&self, state: &Conversation, session: Option<&str>) -> proto::Capacity {
        let mut capacity = encode::capacity(state, self.status_of(state));
        self.quieten(&mut capacity, state, session);
        capacity
    }

    /// The capacity after a call, as callers of a session see it. A replay tells what the call came to first.
    fn capacity<T>(&self, applied: &Applied<T>, session: Option<&str>) -> proto::Capacity {
        let outcome = &applied.outcome;
        let mut capacity = proto::Capacity {
            conversation_id: outcome.conversation.to_string(),
            revision: encode::long(outcome.revision.get()),
            ..encode::numbers(&outcome.capacity)
        };
        if let Some(state) = &applied.state {
            capacity.recipient_id = state.head.identity.recipient.to_string();
            capacity.status = self.status_of(state).into();
        }
        if let Some(state) = applied.state.as_ref().filter(|_| !applied.replayed()) {
            self.quieten(&mut capacity, state, session);
        }
        capacity
    }

    /// Takes the advice to compact away where callers of the session want none.
    fn quieten(&self, capacity: &mut proto::Capacity, state: &Conversation, session: Option<&str>) {
        if capacity.compaction_advice.is_some() && self.engine.is_silenced(state, session) {
            capacity.compaction_advice = None;
        }
    }

    /// The conversation that a call was about; `None` when it is deleted since.
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
