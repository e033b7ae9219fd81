//! The current time, by a clock that may have been wrong.

use crate::{Timestamp, limits::CLOCK_TOLERANCE};

/// The time by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// What the clock shows.
    pub time: Timestamp,
    /// Since when the clock has only gone forward: times ahead of it were recorded before that.
    pub since: Timestamp,
}

impl From<Timestamp> for Now {
    fn from(time: Timestamp) -> Self {
        Self { time, since: time }
    }
}

impl Now {
    /// When something recorded at `time` happened. A time ahead of the clock was recorded before the clock
    /// was set back, and counts as that moment.
    pub fn noted(self, time: Timestamp) -> Timestamp {
        if is_ahead(time, self.time) { self.since.min(self.time) } else { time }
    }
}

/// Whether `time` is so far ahead of `now` that the clock was wrong when it was recorded: further than the
/// clocks of several servers are apart.
pub fn is_ahead(time: Timestamp, now: Timestamp) -> bool {
    time > now.plus(CLOCK_TOLERANCE)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_ahead_of_the_clock_was_noted_before_it_was_set_back() {
        let (since, time) = (Timestamp(0), Timestamp(60_000_000));
        let now = Now { time, since };
        for known in [Timestamp(-1), since, time, time.plus(CLOCK_TOLERANCE)] {
            assert_eq!(now.noted(known), known);
        }
        let year = Duration::from_secs(366 * 24 * 60 * 60);
        for ahead in [time.plus(CLOCK_TOLERANCE + Duration::from_micros(1)), time.plus(year)] {
            assert_eq!(now.noted(ahead), since);
            assert_eq!(Now { time, since: ahead }.noted(ahead), time, "never later than the present");
        }
    }
}
