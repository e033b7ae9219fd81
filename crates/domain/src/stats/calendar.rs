//! Spans of time in UTC, by the Gregorian calendar.

use crate::{Timestamp, values::calendar};

/// How long a span of time is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Starts on the hour.
    Hour,
    /// Starts at midnight.
    #[default]
    Day,
    /// Starts on Monday at midnight (ISO 8601).
    Week,
    /// Starts on the first day at midnight.
    Month,
}

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;
/// 1 January 1970 was a Thursday: three days after a Monday.
const EPOCH_WEEKDAY: i64 = 3;

impl Bucket {
    /// The start of the span that `time` falls in.
    pub fn start(self, time: Timestamp) -> Timestamp {
        let day = time.0.div_euclid(DAY);
        Timestamp(match self {
            Self::Hour => time.0.div_euclid(HOUR).saturating_mul(HOUR),
            Self::Day => day.saturating_mul(DAY),
            Self::Week => (day - (day + EPOCH_WEEKDAY).rem_euclid(7)).saturating_mul(DAY),
            Self::Month => (day - day_of_month(day)).saturating_mul(DAY),
        })
    }
}

/// How many days `day`, counted from 1 January 1970, is after the first of its month.
fn day_of_month(day: i64) -> i64 {
    calendar::date(day).2 - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-02-29T23:59:59.999999Z, a Thursday.
    const LEAP: Timestamp = Timestamp(1_709_251_199_999_999);

    fn seconds(bucket: Bucket, time: Timestamp) -> i64 {
        let start = bucket.start(time);
        assert_eq!(start.0 % 1_000_000, 0);
        start.0 / 1_000_000
    }

    #[test]
    fn spans_start_where_the_calendar_says() {
        assert_eq!(seconds(Bucket::Hour, LEAP), 1_709_247_600); // 23:00
        assert_eq!(seconds(Bucket::Day, LEAP), 1_709_164_800); // Thursday
        assert_eq!(seconds(Bucket::Week, LEAP), 1_708_905_600); // Monday, 26 February
        assert_eq!(seconds(Bucket::Month, LEAP), 1_706_745_600); // 1 February
        let march = Timestamp(LEAP.0 + 1);
        assert_eq!(seconds(Bucket::Month, march), 1_709_251_200);
        assert_eq!(seconds(Bucket::Week, march), 1_708_905_600);
    }

    #[test]
    fn spans_before_1970_and_at_the_ends_of_time_are_spans_too() {
        assert_eq!(seconds(Bucket::Month, Timestamp(-1)), -2_678_400); // 1 December 1969
        assert_eq!(seconds(Bucket::Week, Timestamp(-1)), -259_200); // Monday, 29 December
        let year_1 = Timestamp(-62_135_596_800_000_000);
        assert_eq!(Bucket::Month.start(year_1), year_1);
        for time in [i64::MIN, i64::MIN + 1, i64::MAX].map(Timestamp) {
            for bucket in [Bucket::Hour, Bucket::Day, Bucket::Week, Bucket::Month] {
                assert!(bucket.start(time) <= time);
            }
        }
    }

    #[test]
    fn each_month_starts_once() {
        let days_of_400_years = 146_097;
        let starts = (0..days_of_400_years).filter(|day| day_of_month(*day) == 0);
        assert_eq!(starts.count(), 400 * 12);
    }
}
