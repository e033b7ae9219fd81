//! Lengths of time.

use std::ops::RangeInclusive;

use toml::Value;

/// A length of time.
pub mod duration {
    use super::*;
    use std::time::Duration;

    pub const MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

    pub fn parse(text: &str) -> Result<Duration, String> {
        let accepted = || "a time above 0 and up to 100 years, such as 90s, 30m or 1h 30m".into();
        within(Duration::from_nanos(1)..=MAX, text).ok_or_else(accepted)
    }

    pub fn show(value: &Duration) -> Value {
        Value::String(humantime::format_duration(*value).to_string())
    }

    /// Parses a length of time that must be in `range`.
    pub fn within(range: RangeInclusive<Duration>, text: &str) -> Option<Duration> {
        humantime::parse_duration(text).ok().filter(|duration| range.contains(duration))
    }
}

/// The time between two runs of periodic work.
pub mod period {
    use super::*;
    use std::time::Duration;

    pub use duration::show;

    pub fn parse(text: &str) -> Result<Duration, String> {
        let accepted = || "a time from 1s to 100 years, such as 90s, 30m or 1h 30m".into();
        duration::within(Duration::from_secs(1)..=duration::MAX, text).ok_or_else(accepted)
    }
}

/// How long a reply waits.
pub mod flush {
    use super::*;
    use crate::Flush;
    use std::time::Duration;

    const LEAST: Duration = Duration::from_millis(1);
    const MOST: Duration = Duration::from_secs(60);

    pub fn parse(text: &str) -> Result<Flush, String> {
        if text.trim() == "each" {
            return Ok(Flush::Each);
        }
        let accepted = || "each, or a time from 1ms to 1m, such as 100ms".into();
        duration::within(LEAST..=MOST, text).map(Flush::Interval).ok_or_else(accepted)
    }

    pub fn show(value: &Flush) -> Value {
        match value {
            Flush::Each => Value::String("each".into()),
            Flush::Interval(interval) => duration::show(interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Flush;

    #[test]
    fn times_are_above_nothing() {
        assert_eq!(duration::parse("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(duration::parse("0s").is_err() && duration::parse("30").is_err());
        assert_eq!(period::parse("1s"), Ok(Duration::from_secs(1)));
        assert!(period::parse("999ms").is_err() && period::parse("101years").is_err());
    }

    #[test]
    fn a_flush_is_each_or_a_short_time() {
        for (text, value, shown) in [
            ("each", Flush::Each, "\"each\""),
            ("1ms", Flush::Interval(Duration::from_millis(1)), "\"1ms\""),
            ("60s", Flush::Interval(Duration::from_secs(60)), "\"1m\""),
        ] {
            assert_eq!(flush::parse(text), Ok(value), "{text}");
            assert_eq!(flush::show(&value).to_string(), shown);
        }
        for wrong in ["", "0", "0s", "999us", "61s", "never", "100"] {
            assert!(flush::parse(wrong).is_err(), "{wrong}");
        }
    }
}
