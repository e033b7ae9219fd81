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

use answer::Unread;
use call::CallFuture;
use callers::Callers;
use kind::Call;
use request::RequestBody;
use room::Room;

use crate::{domain::limits::MAX_METADATA_BYTES, server::activity::Activity};

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
        let open = match call.is_own {
            true if caller.unread.is_full() => return CallFuture::refused(refusals::unread()),
            true => caller.calls.try_take_all(call.bytes()),
            // whether the server is well is always told
            false => Some(caller.calls.take_anyway(call.bytes())),
        };
        let Some(open) = open else { return CallFuture::refused(refusals::too_many_open()) };
        let unread = Unread::new(caller.unread.clone(), request.extensions().get::<Arc<Activity>>().cloned());
        let room = Arc::new(Mutex::new(Room::new(caller.received.clone(), call.kind)));

        let gzip = request.headers().get("grpc-encoding").is_some_and(|encoding| encoding == "gzip");
        let whole = |body| RequestBody::new(body, call, gzip, *max_message_bytes, room.clone());
        let mut request = request.map(|body| Body::new(whole(body)));
        if call.may_take_room() {
            request.extensions_mut().insert(callers::room(caller.clone()));
        }
        CallFuture::new(self.inner.call(request), call, open, room, unread)
    }
}

/// The size of metadata as HTTP/2 counts it.
fn metadata_bytes(metadata: &HeaderMap) -> usize {
    metadata.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}
