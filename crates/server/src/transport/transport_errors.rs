//! A layer that reports transport errors according to gRPC's conventions.
//!
//! - An expired deadline is DEADLINE_EXCEEDED. It counts from the call's arrival: if the deadline has passed when the
//!   call's turn comes, the call is not started. A unary call ends after `max_call_duration` in any case.
//! - A message over the size limit is RESOURCE_EXHAUSTED and names the limit.
//! - Bytes that are not a message are INVALID_ARGUMENT.
//!
//! While the clock shows a time that a header cannot express, this layer sets the date of responses: the transport
//! would panic.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header::DATE};
use tokio::time::{Instant, timeout_at};
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;

use crate::{guard::methods::Method, routes::Answer};
use utterd_engine::SystemClock;
use utterd_rpc::{clearer_status, grpc_timeout, transport_error};

/// Reports the transport errors of calls.
#[derive(Clone, Copy)]
pub struct TransportErrors {
    /// The longest that a call lasts which is no stream.
    pub max_call_duration: Duration,
    /// The largest message, which is named when one is larger.
    pub max_message_bytes: usize,
}

impl TransportErrors {
    /// Makes a call, as soon as it arrives, and reports its transport errors.
    pub fn report(&self, request: Request<Body>, call: impl FnOnce(Request<Body>) -> Answer) -> Answer {
        let deadline = self.deadline(&request, Instant::now());
        let (call, most) = (call(request), self.max_message_bytes);
        Box::pin(async move {
            let Some(deadline) = deadline else { return Ok(dated(clearer(call.await?, most))) };
            let mut call = pin!(timeout_at(deadline.at, call));
            let response = poll_fn(|context| match deadline.at <= Instant::now() {
                // the caller no longer waits, so nothing more is started
                true => Poll::Ready(None),
                false => call.as_mut().poll(context).map(Result::ok),
            });
            match response.await {
                Some(response) => Ok(dated(clearer(response?, most))),
                None => Ok(deadline.exceeded()),
            }
        })
    }

    fn deadline(&self, request: &Request<Body>, arrived: Instant) -> Option<Deadline> {
        let given = timeout(request.headers());
        let method = Method::of_request(request);
        let at_most = (!method.is_stream() && !method.is_health_check()).then_some(self.max_call_duration);
        let is_ours = at_most.is_some_and(|most| given.is_none_or(|given| given > most));
        let timeout = if is_ours { at_most } else { given };
        // no deadline if it is later than an `Instant` can hold
        Some(Deadline { at: arrived.checked_add(timeout?)?, is_ours })
    }
}

/// The latest time for a call to end.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    /// The limit is the server's own: the caller set no earlier deadline.
    is_ours: bool,
}

impl Deadline {
    fn exceeded(&self) -> Response<Body> {
        let text = match self.is_ours {
            true => "the call took longer than max_call_duration; it may have taken effect",
            false => "the deadline passed before the call was finished",
        };
        dated(transport_error(Code::DeadlineExceeded, "DEADLINE_EXCEEDED", text).into_http())
    }
}

const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// Returns the caller's timeout, less a timer tick, so that this layer answers before the transport does.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(1);
    let text = headers.get(TIMEOUT)?.to_str().ok()?;
    grpc_timeout(text).map(|timeout| timeout.saturating_sub(TICK))
}

fn clearer(response: Response<Body>, most: usize) -> Response<Body> {
    if !tracing::enabled!(tracing::Level::DEBUG) && is_clear(&response) {
        return response;
    }
    let Some(status) = Status::from_header_map(response.headers()) else { return response };
    // the status message is not logged: it can quote the request
    let reason = status.get_error_details().error_info().map(|info| info.reason.clone());
    tracing::debug!(code = ?status.code(), reason, "refused a call");
    clearer_status(&status, most).map_or(response, Status::into_http)
}

/// Adds a date to the response if the transport could not.
fn dated(mut response: Response<Body>) -> Response<Body> {
    const FIRST: HeaderValue = HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT");
    if SystemClock::shown().is_none() {
        response.headers_mut().insert(DATE, FIRST);
    }
    response
}

/// Whether the status needs no clearer form: it is not one of the transport, which has no details.
fn is_clear(response: &Response<Body>) -> bool {
    let headers = response.headers();
    !headers.contains_key(Status::GRPC_STATUS) || headers.contains_key(Status::GRPC_STATUS_DETAILS)
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use super::*;

    const MEMORIZE: &str = "/utterd.v1.MemoryService/Memorize";
    const HOUR: Duration = Duration::from_secs(3_600);

    fn request(path: &str, deadline: Option<&str>) -> Request<Body> {
        let request = Request::builder().uri(path);
        let request =
            deadline.into_iter().fold(request, |request, text| request.header("grpc-timeout", text));
        request.body(Body::empty()).unwrap()
    }

    fn errors(max_call_duration: Duration) -> TransportErrors {
        TransportErrors { max_call_duration, max_message_bytes: 1 }
    }

    /// Returns the status that ends an endless call, and the time that took.
    async fn ended(most: Duration, request: Request<Body>) -> (Status, Duration) {
        let started = Instant::now();
        let Ok(response) = errors(most).report(request, |_| Box::pin(pending())).await;
        (Status::from_header_map(response.headers()).unwrap(), started.elapsed())
    }

    async fn answer(deadline: &str) -> (Status, Duration) {
        ended(HOUR, request(MEMORIZE, Some(deadline))).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_ends_after_the_longest_time_and_a_stream_does_not() {
        let most = Duration::from_secs(10);
        for deadline in [None, Some("11S"), Some("99999999H")] {
            let (status, elapsed) = ended(most, request(MEMORIZE, deadline)).await;
            assert_eq!(status.code(), Code::DeadlineExceeded);
            assert!(status.message().contains("max_call_duration"), "{status:?}");
            assert!(elapsed >= most && elapsed < most + Duration::from_millis(5), "{elapsed:?}");
        }
        let watch = ended(most, request("/utterd.v1.TraceService/WatchEvents", None));
        assert!(tokio::time::timeout(2 * most, watch).await.is_err());
        let watch = request("/utterd.v1.TraceService/WatchEvents", Some("15S"));
        assert!(ended(most, watch).await.1 > most);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_whose_deadline_is_over_when_its_turn_comes_is_not_begun() {
        let begun = Arc::new(AtomicUsize::new(0));
        for (waited, is_begun) in [(49, true), (50, false), (60, false)] {
            let before = begun.load(Ordering::Relaxed);
            let counted = begun.clone();
            let arrived = errors(HOUR).report(request(MEMORIZE, Some("51m")), |_| {
                Box::pin(async move {
                    counted.fetch_add(1, Ordering::Relaxed);
                    Ok(Response::new(Body::empty()))
                })
            });
            tokio::time::advance(Duration::from_millis(waited)).await;
            let Ok(response) = arrived.await;
            let status = Status::from_header_map(response.headers());
            assert_eq!(status.map(|status| status.code()), (!is_begun).then_some(Code::DeadlineExceeded));
            assert_eq!(begun.load(Ordering::Relaxed) - before, usize::from(is_begun));
        }
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
            let headers = HeaderMap::from_iter([(TIMEOUT, http::HeaderValue::from_static(text))]);
            assert_eq!(timeout(&headers), None, "{text:?}");
        }
    }
}
