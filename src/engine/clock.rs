//! Where time, new ids and secrets come from.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::Timestamp;

/// Tells the time and makes ids. Tests give their own and move it.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// 128 bits that were never given out before, ascending with time.
    fn unique(&self) -> u128;

    /// 128 bits that nobody can guess: of the operating system, unless a test gives its own. `None`
    /// when it has none to give.
    fn secret(&self) -> Option<[u8; 16]> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).ok().map(|()| secret)
    }
}

/// The machine's clock, and ULIDs.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // the one place where time comes in
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
    }

    fn unique(&self) -> u128 {
        ulid::Ulid::new().0
    }
}
