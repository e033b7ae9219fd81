//! The engine's clock. It may be set back, which leaves recorded times ahead of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use crate::Clock;
use utterd_domain::{Now, Timestamp, is_ahead};

/// A clock, and the time since which it has not been set back by more than
/// [`CLOCK_TOLERANCE`](utterd_domain::limits::CLOCK_TOLERANCE).
pub(super) struct Time {
    clock: Arc<dyn Clock>,
    /// The latest time that the clock has shown since it was last set back, to the second.
    latest: AtomicI64,
    since: AtomicI64,
    /// Whether a warning was logged since then that a conversation is ahead of the clock.
    told: AtomicBool,
}

/// The latest time is recorded only once per this many microseconds, so that threads do not contend for it.
const STEP: i64 = 1_000_000;

impl Time {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let now = clock.now().0;
        Self { clock, latest: AtomicI64::new(now), since: AtomicI64::new(now), told: AtomicBool::new(false) }
    }

    /// Returns the clock itself.
    pub fn source(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Returns the clock's time.
    pub fn now(&self) -> Timestamp {
        let now = self.clock.now();
        let latest = self.latest.load(Ordering::Relaxed);
        if now.0 >= latest.saturating_add(STEP) {
            self.latest.fetch_max(now.0, Ordering::Relaxed);
        } else if is_ahead(Timestamp(latest), now) {
            self.set_back(latest, now);
        }
        now
    }

    /// Returns the clock's time, and the time since which it has only moved forward.
    pub fn moment(&self) -> Now {
        let time = self.now();
        Now { time, since: Timestamp(self.since.load(Ordering::Relaxed)) }
    }

    /// Returns the time of a change that follows one at `last`: never earlier, unless the clock was wrong
    /// then.
    pub fn after(&self, last: Timestamp) -> Timestamp {
        let now = self.now();
        if !is_ahead(last, now) {
            return now.max(last);
        }
        if !self.told.swap(true, Ordering::Relaxed) {
            let ahead = seconds(last.0.saturating_sub(now.0));
            tracing::warn!(
                ahead_seconds = ahead,
                "a conversation's last change is ahead of the clock: what follows gets the clock's time"
            );
        }
        now
    }

    /// Returns the time since some moment, by a clock that is never set back.
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Returns 128 bits that were never returned before, ascending with time.
    pub fn unique(&self) -> u128 {
        self.clock.unique()
    }

    /// Returns 128 bits that nobody can guess.
    pub fn secret(&self) -> Option<[u8; 16]> {
        self.clock.secret()
    }

    fn set_back(&self, latest: i64, now: Timestamp) {
        let first = self.latest.compare_exchange(latest, now.0, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_ok() {
            self.since.store(now.0, Ordering::Relaxed);
            self.told.store(false, Ordering::Relaxed);
            tracing::warn!(
                seconds = seconds(latest.saturating_sub(now.0)),
                "the clock was set back: conversations last used after the time it now shows count as used now"
            );
        }
    }
}

fn seconds(micros: i64) -> i64 {
    micros / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hands(AtomicI64);

    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::Relaxed))
        }

        fn unique(&self) -> u128 {
            0
        }
    }

    const YEAR: i64 = 366 * 24 * 3_600 * 1_000_000;

    #[test]
    fn a_clock_that_was_set_back_is_believed_from_then_on() {
        let hands = Arc::new(Hands(AtomicI64::new(YEAR)));
        let time = Time::new(hands.clone());
        let show = |micros: i64| {
            hands.0.store(micros, Ordering::Relaxed);
            time.moment()
        };
        let since = |since: i64, time: i64| Now { time: Timestamp(time), since: Timestamp(since) };
        assert_eq!(show(YEAR + 5), since(YEAR, YEAR + 5));
        assert_eq!(show(3 * YEAR), since(YEAR, 3 * YEAR), "it may go on by any step");
        assert_eq!(show(3 * YEAR - 1_000), since(YEAR, 3 * YEAR - 1_000), "a small step back is none");
        assert_eq!(show(2 * YEAR), since(2 * YEAR, 2 * YEAR));
        assert_eq!(show(2 * YEAR + 9), since(2 * YEAR, 2 * YEAR + 9));
        assert_eq!(show(-YEAR), since(-YEAR, -YEAR), "before 1970 too");
    }

    #[test]
    fn what_follows_is_no_earlier_unless_the_clock_was_wrong() {
        let time = Time::new(Arc::new(Hands(AtomicI64::new(YEAR))));
        let now = Timestamp(YEAR);
        assert_eq!(time.after(Timestamp(0)), now);
        let soon = now.plus(Duration::from_secs(60));
        assert_eq!(time.after(soon), soon);
        assert_eq!(time.after(Timestamp(2 * YEAR)), now);
    }
}
