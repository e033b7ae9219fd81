//! The admission layer around the services.
//!
//! As long as an admitted call of a known caller is open, its connection is not closed to make room for another one.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use http_body_util::BodyExt;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tonic::body::Body;
use tower::Service;

use super::{
    caller::caller,
    gate::{Admission, Gate},
    in_flight::Held,
    kind::Kind,
    run_queue::Ticket,
    turn::{Turn, TurnBody},
};
use crate::transport::activity::{self, Activity};

/// Admits calls to the services of one worker, or turns them away.
///
/// hyper clones it as soon as the head of a call arrives, and calls the clone when the task of that call first runs.
/// The time in between is spent only in the queue of the worker's thread: it does not depend on the store, a model or
/// the client.
pub struct Admitting<S> {
    inner: S,
    gate: Arc<Gate>,
    /// The ticket of the call that the clone was made for.
    ticket: Option<Ticket>,
}

impl<S> Admitting<S> {
    /// The services of a new worker.
    pub fn new(inner: S, admission: Arc<Admission>) -> Self {
        Self { inner, gate: Gate::new(admission), ticket: None }
    }
}

impl<S: Clone> Clone for Admitting<S> {
    fn clone(&self) -> Self {
        let ticket = Some(self.gate.arrive(Instant::now()));
        Self { inner: self.inner.clone(), gate: self.gate.clone(), ticket }
    }
}

impl<S> Service<Request<Body>> for Admitting<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = AdmissionFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let ticket = self.ticket.take().unwrap_or_else(|| self.gate.arrive(Instant::now()));
        match admit(&self.gate, &mut request, ticket) {
            Ok(held) => AdmissionFuture::Admitted { inner: self.inner.call(request), held },
            Err(response) => AdmissionFuture::TurnedAway { response: Some(*response) },
        }
    }
}

/// What an admitted call holds until it ends.
#[derive(Debug)]
pub struct Admitted {
    _held: Held,
    _on_its_connection: Option<activity::Call>,
}

/// Admits a call or turns it away. The returned value counts until it is dropped. The turn of a unary call comes at the
/// end of its request; the call can still be turned away then.
fn admit(
    gate: &Arc<Gate>,
    request: &mut Request<Body>,
    ticket: Ticket,
) -> Result<Option<Admitted>, Box<Response<Body>>> {
    let (now, admission) = (Instant::now(), &gate.admission);
    let (kind, caller) = (Kind::of(request.uri().path()), caller(request.extensions()));
    let is_turned_away = match kind {
        Kind::Exempt => !gate.queue.lock().turn(now, ticket, None, false),
        Kind::Stream => !gate.queue.lock().turn(now, ticket, Some(caller), false),
        Kind::Unary => gate.queue.lock().turns_away(now, ticket, caller),
    };
    if is_turned_away {
        return Err(Box::new(admission.overloaded.next()));
    }
    let (open, too_many) = match kind {
        Kind::Exempt => return Ok(None),
        Kind::Unary => (&admission.calls, &admission.too_many_calls),
        Kind::Stream => (&admission.streams, &admission.too_many_streams),
    };
    // made first: if an error drops it, the call leaves the queue
    let turn = (kind == Kind::Unary).then(|| Turn::new(gate.clone(), request, ticket, caller));
    admission.pace(request, kind, caller, now)?;
    let held = open.hold(caller).map_err(|limit| {
        tracing::debug!(?limit, ?kind, "turned a call away");
        Box::new(too_many.next())
    })?;
    if let Some(turn) = turn {
        let body = std::mem::take(request.body_mut());
        *request.body_mut() = Body::new(TurnBody::new(body, turn));
    }
    let activity = request.extensions().get::<Arc<Activity>>();
    let activity = activity.filter(|_| admission.knows(request.extensions()));
    Ok(Some(Admitted { _held: held, _on_its_connection: activity.map(Activity::call) }))
}

pin_project! {
    /// The pending response.
    #[project = Projected]
    pub enum AdmissionFuture<F> {
        /// The call is admitted.
        Admitted {
            #[pin]
            inner: F,
            held: Option<Admitted>,
        },
        /// The call is turned away.
        TurnedAway { response: Option<Response<Body>> },
    }
}

impl<F, E> Future for AdmissionFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projected::Admitted { inner, held } => {
                let response = ready!(inner.poll(context))?;
                Poll::Ready(Ok(holding(response, held.take())))
            }
            Projected::TurnedAway { response } => match response.take() {
                Some(response) => Poll::Ready(Ok(response)),
                None => Poll::Pending,
            },
        }
    }
}

/// Returns the response; `held` is dropped with its body.
fn holding(response: Response<Body>, held: Option<Admitted>) -> Response<Body> {
    let Some(held) = held else { return response };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_the_end = &held;
            frame
        }))
    })
}
