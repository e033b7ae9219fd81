//! The answers to calls that are turned away, made once.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use http::{HeaderMap, Response};
use tonic::{Status, body::Body};

use utterd_domain::limits::{LEAST_RETRY, MOST_RETRY};
use utterd_rpc::turned_away;
use utterd_telemetry::IntCounter;

/// The number of different retry delays, which are given in turn.
const DELAYS: usize = 16;

/// The headers of an answer, one set for each retry delay.
#[derive(Debug)]
pub struct Refusals {
    given: IntCounter,
    headers: Vec<HeaderMap>,
    next: AtomicUsize,
}

impl Refusals {
    /// The answers to calls that are turned away for `reason`, counted by `given`; `quota` is the name and text of the limit they reach.
    pub fn new(given: IntCounter, reason: &str, message: &str, quota: Option<(&str, &str)>) -> Self {
        let delays = (0..DELAYS).map(|index| LEAST_RETRY + (MOST_RETRY - LEAST_RETRY) * index as u32 / 15);
        let headers = delays.map(|delay: Duration| {
            let response: Response<Body> = turned_away(reason, message, delay, quota).into_http();
            response.into_parts().0.headers
        });
        Self { given, headers: headers.collect(), next: AtomicUsize::new(0) }
    }

    /// Returns the next answer, without a body.
    pub fn next(&self) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        if let Some(headers) = self.next_headers() {
            response.headers_mut().clone_from(headers);
        }
        response
    }

    /// Returns the status of the next answer.
    pub fn next_status(&self) -> Status {
        let status = self.next_headers().and_then(Status::from_header_map);
        status.unwrap_or_else(|| Status::resource_exhausted("retry later"))
    }

    fn next_headers(&self) -> Option<&HeaderMap> {
        self.given.inc();
        // the step visits all, and gives consecutive calls delays that lie far apart
        self.headers.get(self.next.fetch_add(7, Ordering::Relaxed) % DELAYS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tonic::Code;
    use tonic_types::StatusExt;

    use super::*;
    use utterd_telemetry::counter;

    #[test]
    fn each_tells_when_to_call_again_and_not_all_the_same() {
        let given = counter("given", "Answers.");
        let refusals = Refusals::new(given.clone(), "OVERLOADED", "later", Some(("limit", "is 1")));
        let mut delays = HashSet::new();
        for _ in 0..DELAYS {
            let response = refusals.next();
            let status = Status::from_header_map(response.headers()).unwrap();
            assert_eq!((status.code(), status.message()), (Code::ResourceExhausted, "later"));
            let details = status.get_error_details();
            assert_eq!(details.error_info().unwrap().reason, "OVERLOADED");
            assert_eq!(details.quota_failure().unwrap().violations[0].subject, "limit");
            let delay = details.retry_info().unwrap().retry_delay.unwrap();
            assert!((LEAST_RETRY..=MOST_RETRY).contains(&delay));
            delays.insert(delay);
        }
        assert_eq!((delays.len(), given.get()), (DELAYS, DELAYS as u64));
    }
}
