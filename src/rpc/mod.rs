//! The gRPC services: each method decodes, calls the engine, and encodes.

mod context;
mod conversation;
mod decode;
mod encode;
mod memory;
mod page_token;
mod status;
mod trace;

pub use status::transport_error;

use std::sync::Arc;

use tokio::sync::watch;

use crate::{
    domain::{Conversation, Timestamp, limits},
    engine::{Caller, Engine},
    proto,
};

/// Serves every `utterd.v1` service over one engine. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    engine: Arc<Engine>,
    limits: RequestLimits,
    closing: watch::Receiver<bool>,
}

/// How large a request may be.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Bytes of one utterance's content, calls and extras.
    pub max_content_bytes: usize,
    /// Utterances of one request.
    pub max_batch: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { max_content_bytes: limits::DEFAULT_MAX_CONTENT_BYTES, max_batch: limits::DEFAULT_MAX_BATCH }
    }
}

impl Services {
    /// The services of `engine`. Streams that would go on for ever end once `closing` is true.
    pub fn new(engine: Arc<Engine>, limits: RequestLimits, closing: watch::Receiver<bool>) -> Self {
        Self { engine, limits, closing }
    }

    /// Done once the server is closing.
    fn closing(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut closing = self.closing.clone();
        async move {
            // a sender that is gone closes too
            let _ = closing.wait_for(|closing| *closing).await;
        }
    }

    /// Everyone is of the namespace `default`.
    fn caller<T>(&self, _request: &tonic::Request<T>) -> Caller {
        Caller::default()
    }

    fn capacity(&self, state: &Conversation) -> proto::Capacity {
        encode::capacity(state, self.status_at(state, self.engine.now()))
    }

    fn status_at(&self, state: &Conversation, now: Timestamp) -> proto::ConversationStatus {
        encode::status(state.head.status(now, self.engine.defaults().idle_timeout))
    }
}
