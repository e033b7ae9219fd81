//! A layer that answers what the transport finds wrong as gRPC's conventions want it.
//!
//! - A deadline that passes is DEADLINE_EXCEEDED.
//! - A message beyond the limit is RESOURCE_EXHAUSTED and names the limit.
//! - Bytes that are no message are INVALID_ARGUMENT.
//!
//! While the clock shows a time that no header can tell, responses get a date here: the transport would panic.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Request, Response, header::DATE};
use tonic::{Code, Status, body::Body};
use tower::{Layer, Service};

use crate::{
    engine::SystemClock,
    rpc::{clearer_status, transport_error},
};

/// Wraps services in [`TransportErrors`].
#[derive(Clone, Copy)]
pub struct TransportErrorLayer {
    max_message_bytes: usize,
}

impl TransportErrorLayer {
    /// A layer that names `max_message_bytes` where a message is larger.
    pub fn new(max_message_bytes: usize) -> Self {
        Self { max_message_bytes }
    }
}

impl<S> Layer<S> for TransportErrorLayer {
    type Service = TransportErrors<S>;

    fn layer(&self, inner: S) -> Self::Service {
        TransportErrors { inner, max_message_bytes: self.max_message_bytes }
    }
}

/// The layer's service.
#[derive(Clone)]
pub struct TransportErrors<S> {
    inner: S,
    max_message_bytes: usize,
}

impl<S> Service<Request<Body>> for TransportErrors<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = TransportErrorFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let deadline = timeout(request.headers()).map(|timeout| Box::pin(tokio::time::sleep(timeout)));
        let max_message_bytes = self.max_message_bytes;
        TransportErrorFuture { inner: Box::pin(self.inner.call(request)), deadline, max_message_bytes }
    }
}

/// The response in the making.
pub struct TransportErrorFuture<F> {
    inner: Pin<Box<F>>,
    deadline: Option<Pin<Box<tokio::time::Sleep>>>,
    max_message_bytes: usize,
}

impl<F, E> Future for TransportErrorFuture<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let most = self.max_message_bytes;
        if let Poll::Ready(result) = self.inner.as_mut().poll(context) {
            return Poll::Ready(result.map(|response| dated(clearer(response, most))));
        }
        match self.deadline.as_mut().map(|deadline| deadline.as_mut().poll(context)) {
            Some(Poll::Ready(())) => {
                let text = "the deadline passed before the call was done";
                let status = transport_error(Code::DeadlineExceeded, "DEADLINE_EXCEEDED", text);
                Poll::Ready(Ok(dated(status.into_http())))
            }
            _ => Poll::Pending,
        }
    }
}

/// The time that the caller gives, less a timer's tick, so that this layer answers before the
/// transport does.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(1);
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    let timeout = match unit {
        "H" => Duration::from_secs(number * 3_600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    };
    Some(timeout.saturating_sub(TICK))
}

fn clearer(response: Response<Body>, most: usize) -> Response<Body> {
    let Some(status) = Status::from_header_map(response.headers()) else { return response };
    match clearer_status(&status, most) {
        Some(status) => status.into_http(),
        None => {
            tracing::debug!(code = ?status.code(), message = status.message(), "refused a call");
            response
        }
    }
}

/// The response with a date, where the transport could make none.
fn dated(mut response: Response<Body>) -> Response<Body> {
    const FIRST: HeaderValue = HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT");
    if SystemClock::shown().is_none() {
        response.headers_mut().insert(DATE, FIRST);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::pending};

    use tower::{ServiceExt, service_fn};

    use super::*;

    /// Answers how a call without end is answered under a deadline, and after how long.
    async fn answer(deadline: &str) -> (Status, Duration) {
        let endless = service_fn(|_: Request<Body>| pending::<Result<Response<Body>, Infallible>>());
        let request = Request::builder().header("grpc-timeout", deadline).body(Body::empty()).unwrap();
        let started = tokio::time::Instant::now();
        let Ok(response) = TransportErrorLayer::new(1).layer(endless).oneshot(request).await;
        (Status::from_header_map(response.headers()).unwrap(), started.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_passes_is_named() {
        for (deadline, milliseconds) in [("50m", 50), ("2S", 2_000), ("1M", 60_000), ("3000000u", 3_000)] {
            let (status, elapsed) = answer(deadline).await;
            assert_eq!(status.code(), Code::DeadlineExceeded);
            assert!(elapsed <= Duration::from_millis(milliseconds), "{deadline}: {elapsed:?}");
            assert!(elapsed >= Duration::from_millis(milliseconds - 2), "{deadline}: {elapsed:?}");
        }
    }

    #[test]
    fn a_timeout_that_is_none_is_passed_over() {
        for text in ["", "m", "12", "123456789S", "1x", "-1S"] {
            let headers = HeaderMap::from_iter([(
                http::HeaderName::from_static("grpc-timeout"),
                http::HeaderValue::from_static(text),
            )]);
            assert_eq!(timeout(&headers), None, "{text:?}");
        }
    }
}
