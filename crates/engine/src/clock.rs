//! The source of time, new ids and secrets.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;

use utterd_domain::Timestamp;

/// Returns the time and makes ids. Tests supply their own and advance it.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the time since a fixed moment, by a clock that is never set back: the machine's, unless a test
    /// overrides it.
    fn elapsed(&self) -> Duration {
        STARTED.elapsed()
    }

    /// Returns 128 bits that were never returned before, ascending with time.
    fn unique(&self) -> u128;

    /// Returns 128 random bits that nobody can guess, from the operating system unless a test overrides it.
    /// `None` if the system returns none.
    fn secret(&self) -> Option<[u8; 16]> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).ok().map(|()| secret)
    }
}

/// The machine's clock, limited to the years 1970 to 9999, and ULIDs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The last microsecond of the year 9999, the last that a message can express (RFC 3339).
const LAST: i64 = 253_402_300_799_999_999;
/// Whether a warning was logged that the clock is out of range.
static TOLD: AtomicBool = AtomicBool::new(false);
/// The moment from which elapsed time is counted.
#[allow(clippy::disallowed_methods)] // the only place that reads the machine's steady clock
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
/// The last id returned.
static LAST_ID: Mutex<u128> = Mutex::new(0);

impl SystemClock {
    /// Returns the time of the machine's clock; `None` before 1970 and after 9999.
    #[allow(clippy::disallowed_methods)] // the only place that reads the system's time
    pub fn shown() -> Option<Timestamp> {
        told(SystemTime::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let shown = Self::shown();
        if shown.is_some() == TOLD.load(Ordering::Relaxed) {
            TOLD.store(shown.is_none(), Ordering::Relaxed);
            match shown {
                Some(_) => tracing::warn!("the clock is between 1970 and 9999 again"),
                None => tracing::warn!(
                    "the clock is before 1970 or after 9999: until it is set, the time is taken as 1970"
                ),
            }
        }
        shown.unwrap_or_default()
    }

    fn unique(&self) -> u128 {
        later(&mut LAST_ID.lock(), ulid::Ulid::new().0)
    }
}

/// Converts a time, if it is within range.
fn told(time: SystemTime) -> Option<Timestamp> {
    let since_epoch = time.duration_since(UNIX_EPOCH).ok()?;
    let micros = i64::try_from(since_epoch.as_micros()).ok()?;
    (micros <= LAST).then_some(Timestamp(micros))
}

/// Returns an id greater than the last one: `suggested` if that is greater, otherwise the last one plus 1.
fn later(last: &mut u128, suggested: u128) -> u128 {
    *last = suggested.max(last.wrapping_add(1));
    *last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_cannot_be_told_is_none() {
        assert_eq!(told(UNIX_EPOCH), Some(Timestamp(0)));
        assert_eq!(told(UNIX_EPOCH - Duration::from_nanos(1)), None);
        assert_eq!(told(UNIX_EPOCH + Duration::from_micros(LAST.unsigned_abs())), Some(Timestamp(LAST)));
        assert_eq!(told(UNIX_EPOCH + Duration::from_micros(LAST.unsigned_abs() + 1)), None);
    }

    #[test]
    fn ids_ascend_while_the_clock_goes_back() {
        let mut last = 0;
        let given: Vec<u128> = [50, 60, 10, 61, 0, 100].iter().map(|at| later(&mut last, *at)).collect();
        assert_eq!(given, [50, 60, 61, 62, 63, 100]);
        let clock = SystemClock;
        let given: Vec<u128> = (0..1_000).map(|_| clock.unique()).collect();
        assert!(given.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
