//! The admission layer around the services of one worker.
//!
//! As long as an admitted call of a known caller is open, its connection is not closed to make room for another one.

use std::{
    future::{poll_fn, ready},
    sync::Arc,
    task::Context,
};

use http::{HeaderMap, Request};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::{Status, body::Body};

use super::{
    answer::{Answer, Kept},
    caller::caller,
    limits::Admission,
    offloaded::Offloaded,
    overload::Overload,
    refusals::metadata_too_large,
    request::RequestBody,
};
use crate::{guard::methods::Method, routes::Answer as Called, transport::activity::Activity};
use utterd_domain::limits::{MAX_METADATA_BYTES, STREAM_WINDOW};
use utterd_rpc::no_room;

/// Admits the calls of one worker, or refuses them.
pub struct Admitting {
    admission: Arc<Admission>,
    overload: Mutex<Overload>,
}

impl Admitting {
    /// Admits the calls of a new worker.
    pub fn new(admission: Arc<Admission>) -> Arc<Self> {
        Arc::new(Self { admission, overload: Mutex::new(Overload::new(Instant::now())) })
    }

    /// Makes a call if it is admitted.
    ///
    /// This is called as soon as the head of the call has arrived, and the returned future is first polled when the
    /// worker's thread gets to it. The time in between depends neither on the store, a model nor the client.
    pub fn admit(
        self: &Arc<Self>,
        mut request: Request<Body>,
        call: impl FnOnce(Request<Body>) -> Called,
    ) -> Called {
        let (own, arrived) = (self.clone(), Instant::now());
        let answer = match own.arrive(&mut request, arrived) {
            Ok(answer) => answer,
            Err(status) => return Box::pin(ready(Ok(status.into_http()))),
        };
        let poll = |call: &mut Called, context: &mut Context<'_>| call.as_mut().poll(context);
        let mut call = Offloaded::new(call(request), poll, answer.message());
        Box::pin(async move {
            if let Err(status) = own.begin(&answer, arrived) {
                return Ok(status.into_http());
            }
            Ok(answer.send(poll_fn(|context| call.poll(context)).await?))
        })
    }

    /// Admits a call that has arrived, or refuses it. Health checks are always admitted.
    fn arrive(&self, request: &mut Request<Body>, arrived: Instant) -> Result<Answer, Status> {
        let admission = &self.admission;
        if metadata_bytes(request.headers()) > MAX_METADATA_BYTES {
            return Err(metadata_too_large());
        }
        let (method, caller) = (Method::of_request(request), caller(request.extensions()));
        let room = admission.memory.room(caller);
        let mut kept = Kept::default();
        if !method.is_health_check() {
            admission.pace(request, method, caller, arrived)?;
            let is_known = admission.knows(method, request.extensions());
            let open = admission.open(method, is_known);
            kept.in_flight = Some(open.in_flight.hold(caller).map_err(|limit| {
                tracing::debug!(?limit, method = &*method.path, "refused a call");
                open.too_many.next()
            })?);
            if method.takes_many {
                kept.window = Some(room.try_take(STREAM_WINDOW as usize).ok_or_else(no_room)?);
            }
            let activity = request.extensions().get::<Arc<Activity>>();
            kept.connection = activity.filter(|_| is_known).map(Activity::call);
        }
        if method.is_stream() {
            request.extensions_mut().insert(room.clone());
        }
        let answer = Answer::new(request, method, room.clone(), kept);
        let body = std::mem::take(request.body_mut());
        let body = RequestBody::new(body, method, admission.max_message_bytes, room, answer.message());
        *request.body_mut() = Body::new(body);
        Ok(answer)
    }

    /// Begins the call that is answered by `answer`, or refuses it if the server is overloaded. A caller's only call is
    /// never refused.
    fn begin(&self, answer: &Answer, arrived: Instant) -> Result<(), Status> {
        let (now, method) = (Instant::now(), answer.method);
        if method.is_health_check() {
            return Ok(());
        }
        let is_late = self.overload.lock().is_late(now, now - arrived);
        let adds = !method.is_stream() && method.changes() && (self.admission.is_store_behind)();
        match (is_late || adds) && !answer.is_alone() {
            true => Err(self.admission.overloaded.next()),
            false => Ok(()),
        }
    }
}

/// Returns the size of metadata as HTTP/2 counts it.
fn metadata_bytes(metadata: &HeaderMap) -> usize {
    metadata.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}
