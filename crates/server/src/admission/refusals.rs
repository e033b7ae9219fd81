//! The answers to calls that are refused.

use std::sync::atomic::{AtomicU32, Ordering};

use tonic::{Code, Status};

use utterd_domain::limits::{
    LEAST_MESSAGE_RATE, LEAST_RETRY, MAX_METADATA_BYTES, MESSAGE_PATIENCE, MOST_RETRY,
};
use utterd_rpc::{transport_error, turned_away};
use utterd_telemetry::{IntCounter, IntCounterVec};

/// The number of different retry delays, which are given in turn.
const DELAYS: u32 = 16;

/// The refusals for one reason.
#[derive(Debug)]
pub struct Refusals {
    given: IntCounter,
    reason: &'static str,
    message: String,
    /// The name of the limit that is reached.
    limit: Option<&'static str>,
    next: AtomicU32,
}

impl Refusals {
    /// The refusals for `reason`, counted in `all`; `limit` is the name of the limit that the calls reach.
    pub fn new(
        all: &IntCounterVec,
        reason: &'static str,
        message: String,
        limit: Option<&'static str>,
    ) -> Self {
        let given = all.with_label_values(&[reason]);
        Self { given, reason, message, limit, next: AtomicU32::new(0) }
    }

    /// Returns the next refusal.
    pub fn next(&self) -> Status {
        // the step visits all, and gives consecutive calls delays that lie far apart
        let step = self.next.fetch_add(7, Ordering::Relaxed) % DELAYS;
        let delay = LEAST_RETRY + (MOST_RETRY - LEAST_RETRY) * step / (DELAYS - 1);
        self.given.inc();
        let limit = self.limit.map(|limit| (limit, &*self.message));
        turned_away(self.reason, &self.message, delay, limit)
    }
}

/// A message did not arrive in time.
pub fn late() -> Status {
    let text = format!(
        "the message did not arrive in time: once begun, or if the call takes only one, a message has to arrive \
         within {} seconds, or at {} KiB per second",
        MESSAGE_PATIENCE.as_secs(),
        LEAST_MESSAGE_RATE >> 10,
    );
    transport_error(Code::DeadlineExceeded, "MESSAGE_LATE", text)
}

/// A call that takes one message got another.
pub fn second_message() -> Status {
    let text = "the call takes one message, but a second one arrived";
    transport_error(Code::InvalidArgument, "INVALID_MESSAGE", text)
}

/// A call has too much metadata.
pub fn metadata_too_large() -> Status {
    let text =
        format!("the metadata is too large; accepted: {MAX_METADATA_BYTES} bytes, including 32 per entry");
    transport_error(Code::ResourceExhausted, "METADATA_TOO_LARGE", text)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use tonic_types::StatusExt;
    use utterd_telemetry::by;

    use super::*;

    #[test]
    fn refused_calls_are_told_when_to_retry_and_not_all_at_once() {
        let refusals =
            Refusals::new(&by(&["reason"], "refused", "A test."), "OVERLOADED", "later".into(), None);
        let delay = || refusals.next().get_details_retry_info().unwrap().retry_delay.unwrap();
        let delays: HashSet<_> = (0..DELAYS).map(|_| delay()).collect();
        assert_eq!(delays.len(), DELAYS as usize);
        assert!(delays.iter().all(|delay| (LEAST_RETRY..=MOST_RETRY).contains(delay)));
    }
}
