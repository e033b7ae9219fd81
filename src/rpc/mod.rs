//! The gRPC services: each method decodes, calls the engine, and encodes.

mod build_context;
mod compaction;
mod context;
mod conversation;
mod decode;
mod edit;
mod encode;
mod end;
mod endless;
mod export;
mod fork;
mod import;
mod limits;
mod memorize;
mod memory;
mod page_token;
mod prepare_history;
mod recipient;
mod share;
mod stats;
mod status;
mod trace;

pub use limits::RequestLimits;
pub use status::{clearer_status, transport_error};

use std::{pin::Pin, sync::Arc};

use futures::Stream;
use tokio::sync::watch;
use tonic::{Response, Status};

use crate::{
    domain::{Conversation, Refusal, Timestamp, policy::PolicyUpdate},
    engine::{Caller, Engine},
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

    /// Everyone is of the namespace `default`.
    fn caller<T>(&self, _request: &tonic::Request<T>) -> Caller {
        Caller::default()
    }

    /// Changes to a policy. Refuses summaries by a model where none is configured.
    fn policy_update(&self, policy: &proto::Policy) -> Result<PolicyUpdate, Refusal> {
        let update = decode::policy("policy", policy)?;
        match update.llm_summaries {
            Some(true) if !self.engine.has_summarizer() => {
                let text = "is true, but the server has no model configured (llm); accepted is false";
                Err(Refusal::invalid("policy.llm_summaries", text))
            }
            _ => Ok(update),
        }
    }

    fn capacity(&self, state: &Conversation) -> proto::Capacity {
        self.capacity_in(state, None)
    }

    /// The capacity as callers of a session see it.
    fn capacity_in(&self, state: &Conversation, session: Option<&str>) -> proto::Capacity {
        let mut capacity = encode::capacity(state, self.status_at(state, self.engine.now()));
        if capacity.compaction_advice.is_some() && self.engine.is_silenced(state, session) {
            capacity.compaction_advice = None;
        }
        capacity
    }

    fn status_at(&self, state: &Conversation, now: Timestamp) -> proto::ConversationStatus {
        encode::status(state.head.status(now, self.engine.defaults().idle_timeout))
    }
}
