//! The admission layer around the services of one worker.
//!
//! As long as an admitted call of a known caller is open, its connection is not closed to make room for another one.

use std::{
    future::{poll_fn, ready},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::{Status, body::Body};
use tower::Service;

use super::{
    answer::{Answer, Kept},
    caller::caller,
    limits::Admission,
    offloaded::Offloaded,
    overload::Overload,
    refusals::metadata_too_large,
    request::RequestBody,
};
use crate::{
    guard::methods::{Count, Method},
    transport::activity::Activity,
};
use utterd_domain::limits::{MAX_METADATA_BYTES, STREAM_WINDOW};
use utterd_rpc::no_room;

/// Admits calls to the services of one worker, or refuses them.
///
/// It is called as soon as the head of a call has arrived, and the returned future is first polled when the worker's
/// thread gets to it. The time in between depends neither on the store, a model nor the client.
#[derive(Clone)]
pub struct Admitting<S> {
    inner: S,
    worker: Arc<Worker>,
}

struct Worker {
    admission: Arc<Admission>,
    overload: Mutex<Overload>,
}

impl<S> Admitting<S> {
    /// The services of a new worker.
    pub fn new(inner: S, admission: Arc<Admission>) -> Self {
        let overload = Mutex::new(Overload::new(Instant::now()));
        Self { inner, worker: Arc::new(Worker { admission, overload }) }
    }
}

impl<S> Service<Request<Body>> for Admitting<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Future: Unpin + Send + 'static>,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let (turn, answer) = match self.worker.admit(&mut request) {
            Ok(admitted) => admitted,
            Err(status) => return Box::pin(ready(Ok(status.into_http()))),
        };
        let call = self.inner.call(request);
        let poll = |call: &mut S::Future, context: &mut Context<'_>| Pin::new(call).poll(context);
        let mut call = Offloaded::new(call, poll, answer.message());
        Box::pin(async move {
            if let Some(Err(status)) = turn.map(|turn| turn.take(&answer)) {
                return Ok(status.into_http());
            }
            Ok(answer.send(poll_fn(|context| call.poll(context)).await?))
        })
    }
}

/// A call that waits for its turn.
pub struct Turn {
    worker: Arc<Worker>,
    method: &'static Method,
    arrived: Instant,
}

impl Worker {
    /// Admits a call that has arrived, or refuses it. Health checks are always admitted.
    fn admit(self: &Arc<Self>, request: &mut Request<Body>) -> Result<(Option<Turn>, Answer), Status> {
        let (now, admission) = (Instant::now(), &self.admission);
        if metadata_bytes(request.headers()) > MAX_METADATA_BYTES {
            return Err(metadata_too_large());
        }
        let (method, caller) = (Method::of_request(request), caller(request.extensions()));
        let room = admission.memory.room(caller);
        let mut kept = Kept::default();
        if !method.is_health_check() {
            admission.pace(request, method, caller, now)?;
            let is_known = admission.knows(method, request.extensions());
            let open = admission.open(method, is_known);
            kept.in_flight = Some(open.in_flight.hold(caller).map_err(|limit| {
                tracing::debug!(?limit, method = &*method.path, "refused a call");
                open.too_many.next()
            })?);
            if method.takes == Count::Any {
                kept.window = Some(room.try_take(STREAM_WINDOW as usize).ok_or_else(no_room)?);
            }
            let activity = request.extensions().get::<Arc<Activity>>();
            kept.connection = activity.filter(|_| is_known).map(Activity::call);
        }
        let turn = kept.in_flight.is_some().then(|| Turn { worker: self.clone(), method, arrived: now });
        if method.is_stream() {
            request.extensions_mut().insert(room.clone());
        }
        let answer = Answer::new(request, method, room.clone(), kept);
        let body = std::mem::take(request.body_mut());
        let body = RequestBody::new(body, method, admission.max_message_bytes, room, answer.message());
        *request.body_mut() = Body::new(body);
        Ok((turn, answer))
    }
}

impl Turn {
    /// Takes the turn; the error is that the call is refused. A caller's only call never is.
    fn take(self, answer: &Answer) -> Result<(), Status> {
        let (now, admission) = (Instant::now(), &self.worker.admission);
        let is_late = self.worker.overload.lock().is_late(now, now - self.arrived);
        let adds = !self.method.is_stream() && self.method.changes() && (admission.is_store_behind)();
        if (is_late || adds) && !answer.is_alone() {
            return Err(admission.overloaded.next());
        }
        Ok(())
    }
}

/// Returns the size of metadata as HTTP/2 counts it.
fn metadata_bytes(metadata: &HeaderMap) -> usize {
    metadata.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}
