//! The layer around all others. A panic in them ends the call with INTERNAL.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use http::{Request, Response};
use tonic::{Status, body::Body};
use tower::Service;

use super::{body::CallBody, record::Calls};
use crate::guard::methods::Method;
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
    S: Service<Request<Body>, Response = Response<Body>, Future: Send + 'static>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let method = Method::note(&mut request);
        let record = self.calls.arrived(method, &request);
        // a panic here is reported when the response is polled
        let call = Within::Call.caught(|| self.inner.call(request));
        Box::pin(async move {
            let answered = match call {
                Ok(call) => Within::Call.catching(within(record.span.as_ref(), call)).await,
                Err(Panicked) => Err(Panicked),
            };
            let mut response = answered.unwrap_or_else(|Panicked| Ok(panicked().into_http()))?;
            // an answer without messages has its status in the headers
            Ok(match response.headers().contains_key(Status::GRPC_STATUS) {
                true => {
                    record.end_with(response.headers_mut());
                    response
                }
                false => response.map(|body| Body::new(CallBody::new(body, record))),
            })
        })
    }
}

/// Makes a call within its span, if it is traced.
async fn within<F: Future>(span: Option<&Span>, call: F) -> F::Output {
    let mut call = pin!(call);
    poll_fn(|context| {
        let _entered = span.map(Span::enter);
        call.as_mut().poll(context)
    })
    .await
}
