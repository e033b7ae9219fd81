//! The layer around all others. A panic in them ends the call with INTERNAL.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tonic::{Status, body::Body};
use tower::Service;

use super::{
    body::CallBody,
    record::{Calls, Record},
};
use utterd_rpc::panicked;
use utterd_telemetry::{
    Span,
    panics::{Panicked, Within},
};

/// Counts and logs the calls to a service.
#[derive(Clone)]
pub struct Recorded<S> {
    pub inner: S,
    pub calls: Arc<Calls>,
}

impl<S> Service<Request<Body>> for Recorded<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = RecordedFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let record = Some(self.calls.arrived(&request));
        // a panic here is reported when the response is polled
        let inner = Within::Call.caught(|| self.inner.call(request)).ok();
        RecordedFuture { inner, record }
    }
}

pin_project! {
    /// The pending response.
    pub struct RecordedFuture<F> {
        // `None` if the call panicked
        #[pin]
        inner: Option<F>,
        record: Option<Record>,
    }
}

impl<F, E> Future for RecordedFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let span = this.record.as_ref().and_then(|record| record.span.as_ref());
        let entered = span.map(Span::enter);
        let polled = match this.inner.as_mut().as_pin_mut() {
            Some(inner) => Within::Call.caught(|| inner.poll(context)),
            None => Err(Panicked),
        };
        drop(entered);
        let mut response = match polled {
            Ok(polled) => ready!(polled)?,
            Err(Panicked) => {
                this.inner.set(None);
                panicked().into_http()
            }
        };
        let Some(record) = this.record.take() else { return Poll::Ready(Ok(response)) };
        // an answer without messages has its status in the headers
        Poll::Ready(Ok(match response.headers().contains_key(Status::GRPC_STATUS) {
            true => {
                record.end_with(response.headers_mut());
                response
            }
            false => response.map(|body| Body::new(CallBody::new(body, record))),
        }))
    }
}
