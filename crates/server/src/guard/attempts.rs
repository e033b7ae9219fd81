//! Logs failed attempts to call, but not too often.

use std::net::SocketAddr;

use parking_lot::Mutex;

use super::refusal::Refused;
use utterd_domain::{Timestamp, limits::ATTEMPT_LOG_INTERVAL};

/// Logs failed attempts: at most one line per [`ATTEMPT_LOG_INTERVAL`], with the number of attempts that were not
/// logged since the last line.
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
    /// Logs that a call from `address` was refused, unless another one was logged just before.
    pub fn failed(&self, address: Option<SocketAddr>, refused: &Refused, now: Timestamp) {
        let Some(passed_over) = self.state.lock().turn(now) else { return };
        let address = address.map_or_else(|| "a local caller".into(), |address| address.to_string());
        tracing::warn!(from = address, reason = refused.reason(), passed_over, "refused an unknown caller");
    }
}

impl State {
    /// Returns how many attempts were not logged, if it is time to log.
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
