//! A layer that bounds the memory of requests and answers.
//!
//! - A request's message is passed on once it is whole: one that is announced and never arrives costs nothing.
//! - Messages that are not answered yet, and answers that are not read yet, are counted per caller and in total. If
//!   there is no room for one, it waits briefly and is then refused.
//! - A message that has begun must arrive in time.

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

use http::{Extensions, HeaderMap, HeaderName, Request, Response};
use parking_lot::Mutex;
use tonic::body::Body;
use tower::Service;

use answer::Unread;
use call::CallFuture;
use callers::Callers;
use request::RequestBody;
use room::Room;

pub use budget::{Share, Taken};
pub use kind::Call;
pub use pace::Pace;
pub use refusals::{late, no_room};

use crate::transport::activity::Activity;
use utterd_domain::limits::MAX_METADATA_BYTES;

/// Bounds the memory of the requests and answers of all workers. Cheap to clone.
#[derive(Clone)]
pub struct Messages(Arc<Shared>);

struct Shared {
    callers: Callers,
    max_message_bytes: usize,
}

impl Messages {
    /// Bounds messages to `max_message_bytes` each.
    pub fn new(max_message_bytes: usize) -> Self {
        let callers = Callers::new(max_message_bytes);
        Self(Arc::new(Shared { callers, max_message_bytes }))
    }

    /// Bounds the messages of a service.
    pub fn around<S>(&self, inner: S) -> Bounded<S> {
        Bounded { inner, shared: self.0.clone() }
    }

    /// Returns the share of the memory for received messages that the caller of a request has.
    pub fn share(&self, extensions: &Extensions) -> Arc<Share> {
        self.0.callers.of(extensions).received.clone()
    }
}

/// A service whose messages are bounded.
#[derive(Clone)]
pub struct Bounded<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Service<Request<Body>> for Bounded<S>
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
            // health checks are always answered
            false => Some(caller.calls.take_anyway(call.bytes())),
        };
        let Some(open) = open else { return CallFuture::refused(refusals::too_many_open()) };
        let unread = Unread::new(caller.unread.clone(), request.extensions().get::<Arc<Activity>>().cloned());
        let room = Arc::new(Mutex::new(Room::new(caller.received.clone(), call.kind)));

        let gzip = request.headers().get(ENCODING).is_some_and(|encoding| encoding == "gzip");
        let whole = |body| RequestBody::new(body, call, gzip, *max_message_bytes, room.clone());
        let mut request = request.map(|body| Body::new(whole(body)));
        if call.may_take_room() {
            request.extensions_mut().insert(callers::room(caller.clone()));
        }
        CallFuture::new(self.inner.call(request), call, open, room, unread)
    }
}

const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// Returns the size of metadata as HTTP/2 counts it.
fn metadata_bytes(metadata: &HeaderMap) -> usize {
    metadata.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}
