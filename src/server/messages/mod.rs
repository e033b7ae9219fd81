//! A layer that bounds what requests and answers cost in memory.
//!
//! - A request's message is handed on once it is whole: what was announced and does not come costs nothing.
//! - What is received and not yet answered, and what is answered and not yet read, is counted, for each caller
//!   and in all; what there is no room for waits a while, and is refused.
//! - A message that was begun has to come.

mod answer;
mod budget;
mod call;
mod callers;
mod cut;
mod gzip;
mod kind;
mod pace;
mod refusals;
mod request;
mod room;
#[cfg(test)]
mod tests;
mod weight;

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use http::{HeaderMap, Request, Response};
use parking_lot::Mutex;
use tonic::body::Body;
use tower::{Layer, Service};

use call::CallFuture;
use callers::Callers;
use kind::{Call, Kind};
use request::RequestBody;
use room::Room;

use crate::domain::limits::MAX_METADATA_BYTES;

/// Wraps services in [`Messages`].
#[derive(Clone)]
pub struct MessagesLayer(Arc<Shared>);

struct Shared {
    callers: Callers,
    max_message_bytes: usize,
}

impl MessagesLayer {
    /// A layer for messages of at most `max_message_bytes`.
    pub fn new(max_message_bytes: usize) -> Self {
        let callers = Callers::new(max_message_bytes);
        Self(Arc::new(Shared { callers, max_message_bytes }))
    }
}

impl<S> Layer<S> for MessagesLayer {
    type Service = Messages<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Messages { inner, shared: self.0.clone() }
    }
}

/// The layer's service.
#[derive(Clone)]
pub struct Messages<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Service<Request<Body>> for Messages<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = CallFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Shared { callers, max_message_bytes } = &*self.shared;
        let call = Call::of(request.uri().path());
        if metadata_bytes(request.headers()) > MAX_METADATA_BYTES {
            return CallFuture::refused(refusals::metadata_too_large());
        }
        let caller = callers.of(request.extensions());
        if caller.unread.is_full() && call.kind != Kind::Unknown {
            return CallFuture::refused(refusals::unread());
        }
        let share = if call.kind == Kind::All { &caller.imported } else { &caller.received };
        let room = Arc::new(Mutex::new(Room::new(share.clone(), call.kind)));

        let gzip = request.headers().get("grpc-encoding").is_some_and(|encoding| encoding == "gzip");
        let whole = |body| RequestBody::new(body, call, gzip, *max_message_bytes, room.clone());
        let request = request.map(|body| Body::new(whole(body)));
        CallFuture::new(self.inner.call(request), call, room, caller.unread.clone())
    }
}

/// The size of metadata as HTTP/2 counts it.
fn metadata_bytes(metadata: &HeaderMap) -> usize {
    metadata.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}
