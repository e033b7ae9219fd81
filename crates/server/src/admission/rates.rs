//! Calls per second, by caller.

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;
use tokio::time::Instant;

use utterd_domain::limits::RATE_BURST;

/// After this many new callers, those that have not called for some time are forgotten.
const SWEEP: usize = 1_024;

/// How far each caller has used up its rate, by the generic cell rate algorithm. It keeps one time per caller: the end
/// of all its calls so far, had they been made one interval apart.
#[derive(Debug, Default)]
pub struct Rates {
    used_until: DashMap<u64, Instant, FxBuildHasher>,
    added: AtomicUsize,
}

impl Rates {
    /// Counts one call of a caller that may make `a_second` calls per second. The error is how long it has to wait.
    pub fn take(&self, caller: u64, a_second: NonZeroU32, now: Instant) -> Result<(), Duration> {
        let (interval, burst) = interval(a_second);
        let mut used = self.used_until.entry(caller).or_insert_with(|| {
            self.added.fetch_add(1, Ordering::Relaxed);
            now
        });
        let ahead = used.saturating_duration_since(now);
        if ahead > burst {
            return Err(ahead - burst);
        }
        *used = (*used).max(now) + interval;
        drop(used);
        self.sweep(now);
        Ok(())
    }

    fn sweep(&self, now: Instant) {
        if self.added.load(Ordering::Relaxed) >= SWEEP && self.added.swap(0, Ordering::Relaxed) >= SWEEP {
            self.used_until.retain(|_, used| *used > now);
        }
    }
}

/// Returns the time between two calls, and how far ahead of that pace a caller may be.
fn interval(a_second: NonZeroU32) -> (Duration, Duration) {
    let interval = Duration::from_secs(1) / a_second.get();
    (interval, RATE_BURST.saturating_sub(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_second(calls: u32) -> NonZeroU32 {
        NonZeroU32::new(calls).unwrap()
    }

    #[test]
    fn a_caller_has_its_calls_and_no_more() {
        let (rates, start) = (Rates::default(), Instant::now());
        let mut taken = 0;
        for milliseconds in 0..10_000 {
            let now = start + Duration::from_millis(milliseconds);
            taken += u32::from(rates.take(1, a_second(100), now).is_ok());
        }
        // a second's calls at once, and then a hundred each second
        assert!((1_090..=1_110).contains(&taken), "{taken}");
        assert_eq!(rates.take(2, a_second(100), start), Ok(()));
    }

    #[test]
    fn who_waits_as_long_as_is_told_is_served() {
        let (rates, mut now) = (Rates::default(), Instant::now());
        for calls in [1, 3, 50] {
            let taken = (0..100).find_map(|_| rates.take(calls.into(), a_second(calls), now).err());
            let wait = taken.unwrap();
            let early = wait - Duration::from_nanos(1);
            assert!(rates.take(calls.into(), a_second(calls), now + early).is_err());
            now += wait;
            assert_eq!(rates.take(calls.into(), a_second(calls), now), Ok(()));
        }
    }

    #[test]
    fn callers_that_are_gone_leave_nothing_behind() {
        let (rates, start) = (Rates::default(), Instant::now());
        for caller in 0..100_000 {
            let now = start + Duration::from_millis(caller);
            rates.take(caller, a_second(10), now).unwrap();
        }
        assert!(rates.used_until.len() < 2 * SWEEP, "{}", rates.used_until.len());
    }
}
