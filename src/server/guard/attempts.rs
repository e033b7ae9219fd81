//! Attempts that failed, told in the log and not too often.

use std::net::SocketAddr;

use parking_lot::Mutex;

use super::refusal::Refused;
use crate::domain::{Timestamp, limits::ATTEMPT_LOG_INTERVAL};

/// Tells of attempts that failed: at most one line in [`ATTEMPT_LOG_INTERVAL`], with how many it passed over since the
/// one before.
#[derive(Default)]
pub struct Attempts {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Option<Timestamp>,
    passed_over: u64,
}

impl Attempts {
    /// Tells that a call from `address` was refused, unless another was told of just before.
    pub fn failed(&self, address: Option<SocketAddr>, refused: &Refused, now: Timestamp) {
        let Some(passed_over) = self.state.lock().turn(now) else { return };
        let address = address.map_or_else(|| "a local caller".into(), |address| address.to_string());
        tracing::warn!(from = address, reason = refused.reason(), passed_over, "nobody known calls");
    }
}

impl State {
    /// How many were passed over, when it is time to tell.
    fn turn(&mut self, now: Timestamp) -> Option<u64> {
        let is_soon = |told: Timestamp| told <= now && now < told.plus(ATTEMPT_LOG_INTERVAL);
        if self.told.is_some_and(is_soon) {
            self.passed_over += 1;
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.passed_over))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_line_a_second_tells_of_all() {
        let mut state = State::default();
        let at = |milliseconds| Timestamp(0).plus(Duration::from_millis(milliseconds));
        let told: Vec<_> = [0, 1, 999, 1_000, 1_999, 5_000].map(|time| state.turn(at(time))).into();
        assert_eq!(told, [Some(0), None, None, Some(2), None, Some(1)]);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_silence() {
        let mut state = State::default();
        let told = [9_000, 10, 20].map(|micros| state.turn(Timestamp(micros)));
        assert_eq!(told, [Some(0), Some(0), None]);
    }
}
