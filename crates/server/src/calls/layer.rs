//! The layer around all others.

use std::{future::poll_fn, pin::pin, sync::Arc};

use http::Request;
use tonic::{Status, body::Body};

use super::{body::CallBody, record::Calls};
use crate::{guard::methods::Method, routes::Answer};
use utterd_rpc::panicked;
use utterd_telemetry::{
    Span,
    panics::{Panicked, Within},
};

impl Calls {
    /// Makes a call; counts and logs it. A panic in it ends it with INTERNAL.
    pub fn record(
        self: &Arc<Self>,
        mut request: Request<Body>,
        call: impl FnOnce(Request<Body>) -> Answer,
    ) -> Answer {
        let method = Method::note(&mut request);
        let record = self.arrived(method, &request);
        // a panic here is reported when the response is polled
        let call = Within::Call.caught(|| call(request));
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
