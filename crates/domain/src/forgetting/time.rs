//! Times: absolute ones as in the short forms, and ones relative to now.
//!
//! All times are in UTC. A day begins at midnight UTC, and "today" is the UTC day on which an instruction
//! arrives.

use jiff::{
    SignedDuration, Span,
    civil::{Date, DateTime, Weekday},
    tz::TimeZone,
};

use crate::Timestamp;

/// Seconds per day: UTC days are all this long in POSIX time.
pub(super) const DAY: u32 = 24 * 60 * 60;
/// The longest time before now that is accepted, in seconds: a thousand years.
const MOST_SECONDS: u64 = 1_000 * 366 * DAY as u64;
/// The years allowed in a date.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9_000;

/// Parses a time in short form: a day, which means its beginning, or a day and a time of day, in UTC unless
/// an offset is given.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let local = || text.parse::<DateTime>().and_then(|local| local.to_zoned(TimeZone::UTC));
    let time = text.parse::<jiff::Timestamp>().or_else(|_| local().map(|zoned| zoned.timestamp())).ok()?;
    let year = time.to_zoned(TimeZone::UTC).year();
    YEARS.contains(&year).then(|| Timestamp(time.as_microsecond()))
}

/// Formats a time in short form: as a day alone if it is the day's beginning.
pub(super) fn write(time: Timestamp) -> String {
    let time = near(time);
    match time.as_microsecond() % (i64::from(DAY) * 1_000_000) {
        0 => time.to_zoned(TimeZone::UTC).date().to_string(),
        _ => time.to_string(),
    }
}

/// A moment, absolute or relative to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// This many seconds into a day.
    On(Day, u32),
    /// This long before now, to the second.
    Ago(u32, Unit),
    /// An absolute time.
    At(Timestamp),
}

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    /// This many days before today.
    Back(u8),
    /// A date with its year.
    Of(Date),
    /// The most recent day, up to today, with this month and day of the month.
    Last(i8, i8),
    /// The most recent such day of the week before today.
    Weekday(Weekday),
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// This many seconds.
    Seconds(u32),
    /// This many calendar months.
    Months(u32),
}

/// A range from one moment to just before another, either of which can be open. Its ends are in order at any
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stretch {
    pub since: Option<Moment>,
    pub before: Option<Moment>,
}

impl Day {
    /// A date, unless it does not exist or its year is out of range.
    pub fn of(year: i16, month: i8, day: i8) -> Option<Self> {
        let date = Date::new(year, month, day).ok()?;
        YEARS.contains(&year).then_some(Self::Of(date))
    }

    /// The most recent such day, unless no year has one.
    pub fn last(month: i8, day: i8) -> Option<Self> {
        const LEAP: i16 = 2000;
        Date::new(LEAP, month, day).ok().map(|_| Self::Last(month, day))
    }

    /// The day's beginning.
    pub fn start(self) -> Moment {
        Moment::On(self, 0)
    }

    /// Parses a day as the table of English writes it: `b1`, `w0`, `--11-20`, `2026-11-20`.
    fn read(text: &str) -> Option<Self> {
        if let Some(back) = text.strip_prefix('b') {
            return back.parse().ok().map(Self::Back);
        }
        if let Some(day) = text.strip_prefix('w') {
            return Weekday::from_monday_zero_offset(day.parse().ok()?).ok().map(Self::Weekday);
        }
        let (date, recent) = text.strip_prefix("--").map_or((text, false), |date| (date, true));
        let mut numbers = date.split('-');
        let year = if recent { 0 } else { numbers.next()?.parse().ok()? };
        let (month, day) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        if recent { Self::last(month, day) } else { Self::of(year, month, day) }
    }

    fn date(self, today: Date) -> Date {
        match self {
            Self::Back(days) => today.saturating_sub(Span::new().days(days)),
            Self::Of(date) => date,
            Self::Weekday(day) => {
                let days = today.weekday().since(day);
                today.saturating_sub(Span::new().days(if days == 0 { 7 } else { days }))
            }
            Self::Last(month, day) => {
                let of = |back| Date::new(today.year().saturating_sub(back), month, day).ok();
                // a leap day comes at least every eight years
                (0..=8).filter_map(of).find(|date| *date <= today).unwrap_or(today)
            }
        }
    }
}

impl Moment {
    /// Parses a moment as the table of English writes it: `DAY+10:30`, `3*60`, or a time in short form.
    pub fn read(text: &str) -> Option<Self> {
        if let Some((count, unit)) = text.split_once('*') {
            let unit = match unit.strip_suffix('m') {
                Some(months) => Unit::Months(months.parse().ok()?),
                None => Unit::Seconds(unit.parse().ok()?),
            };
            return Self::ago(count.parse().ok()?, unit);
        }
        if text.contains(['T', 't']) {
            return read(text).map(Self::At);
        }
        let (day, clock) = text.split_once('+')?;
        let (hours, minutes) = clock.split_once(':')?;
        let minutes = hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?;
        Some(Self::On(Day::read(day)?, minutes * 60))
    }

    /// The moment `count` units ago, unless that is longer ago than anything was ever said.
    pub fn ago(count: u32, unit: Unit) -> Option<Self> {
        let seconds = match unit {
            Unit::Seconds(seconds) => u64::from(count) * u64::from(seconds),
            Unit::Months(months) => u64::from(count) * u64::from(months) * 30 * u64::from(DAY),
        };
        (seconds <= MOST_SECONDS).then_some(Self::Ago(count, unit))
    }

    /// The moment's time.
    fn at(self, now: Timestamp) -> Timestamp {
        let now = near(now).to_zoned(TimeZone::UTC).datetime();
        let local = match self {
            Self::At(time) => return time,
            Self::On(day, seconds) => {
                let start = day.date(now.date()).to_datetime(jiff::civil::Time::midnight());
                start.saturating_add(SignedDuration::from_secs(seconds.into()))
            }
            Self::Ago(count, Unit::Seconds(seconds)) => {
                let ago = i64::from(count) * i64::from(seconds);
                whole_second(now).saturating_sub(SignedDuration::from_secs(ago))
            }
            Self::Ago(count, Unit::Months(months)) => {
                let ago = Span::new().try_months(i64::from(count) * i64::from(months));
                whole_second(now).saturating_sub(ago.unwrap_or_default())
            }
        };
        local
            .to_zoned(TimeZone::UTC)
            .map_or(Timestamp(i64::MAX), |zoned| Timestamp(zoned.timestamp().as_microsecond()))
    }

    /// The sort key among moments of the same kind, independent of the time; `None` if the order depends on
    /// the time.
    fn order(self) -> Option<(u8, i64)> {
        let micros = |seconds: i64| seconds * 1_000_000;
        let days = |date: Date| date.duration_since(Date::constant(1970, 1, 1)).as_secs();
        match self {
            Self::On(Day::Back(days), seconds) => {
                Some((0, i64::from(seconds) - i64::from(days) * i64::from(DAY)))
            }
            Self::On(Day::Of(date), seconds) => Some((1, micros(days(date) + i64::from(seconds)))),
            Self::At(time) => Some((1, time.0)),
            Self::On(Day::Last(..) | Day::Weekday(_), _) => None,
            Self::Ago(count, Unit::Seconds(seconds)) => Some((2, -i64::from(count) * i64::from(seconds))),
            Self::Ago(count, Unit::Months(months)) => Some((3, -i64::from(count) * i64::from(months))),
        }
    }
}

impl Stretch {
    /// From a moment on.
    pub fn since(moment: Moment) -> Self {
        Self { since: Some(moment), before: None }
    }

    /// Up to a moment, excluding it.
    pub fn before(moment: Moment) -> Self {
        Self { since: None, before: Some(moment) }
    }

    /// The intersection; `None` unless one is open, or each has just the end that the other lacks and both ends are in
    /// order at any time.
    pub fn and(self, other: Self) -> Option<Self> {
        if self == Self::default() {
            return Some(other);
        }
        let both = match (self, other) {
            (Self { since: Some(since), before: None }, Self { since: None, before: Some(before) })
            | (Self { since: None, before: Some(before) }, Self { since: Some(since), before: None }) => {
                (since, before)
            }
            _ => return None,
        };
        let ordered = match both {
            (Moment::On(one, since), Moment::On(other, before)) if one == other => since < before,
            (since, before) => since
                .order()
                .zip(before.order())
                .is_some_and(|((kind, since), (other, before))| kind == other && since < before),
        };
        ordered.then_some(Self { since: Some(both.0), before: Some(both.1) })
    }

    /// The times of its beginning and its end.
    pub fn at(self, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.since.map(|moment| moment.at(now)), self.before.map(|moment| moment.at(now)))
    }
}

/// The time, or the nearest one that the calendar supports.
pub(super) fn near(time: Timestamp) -> jiff::Timestamp {
    let (least, most) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    let micros = time.0.clamp(least.as_microsecond(), most.as_microsecond());
    jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

fn whole_second(time: DateTime) -> DateTime {
    time.with().subsec_nanosecond(0).build().unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        read(text).unwrap()
    }

    #[test]
    fn a_time_is_read_in_utc_and_written_shortest() {
        for (text, written) in [
            ("2026-11-20", "2026-11-20"),
            ("2026-11-20T00:00:00Z", "2026-11-20"),
            ("2026-11-20T10:00", "2026-11-20T10:00:00Z"),
            ("2026-11-20 10:00:30", "2026-11-20T10:00:30Z"),
            ("2026-11-20T10:00:00.25Z", "2026-11-20T10:00:00.25Z"),
            ("2026-11-20T01:00:00+02:00", "2026-11-19T23:00:00Z"),
            ("1960-01-01", "1960-01-01"),
        ] {
            assert_eq!(write(at(text)), written, "{text}");
            assert_eq!(read(written), read(text), "{text}");
        }
        for text in ["", "5", "10:00", "2026-13-01", "2026-11", "9999-12-31", "yesterday", "0000-01-01"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_told_from_now_is_in_utc() {
        let now = Timestamp(at("2024-03-31T12:30:15Z").0 + 250_000);
        let of = |moment: Moment| write(moment.at(now));
        assert_eq!(of(Day::Back(0).start()), "2024-03-31");
        assert_eq!(of(Moment::On(Day::Back(1), 36_000)), "2024-03-30T10:00:00Z");
        assert_eq!(of(Moment::On(Day::Back(0), DAY)), "2024-04-01");
        assert_eq!(of(Day::last(3, 31).unwrap().start()), "2024-03-31");
        assert_eq!(of(Day::last(4, 1).unwrap().start()), "2023-04-01");
        assert_eq!(of(Day::last(2, 29).unwrap().start()), "2024-02-29");
        assert_eq!(of(Moment::ago(1, Unit::Seconds(7 * DAY)).unwrap()), "2024-03-24T12:30:15Z");
        assert_eq!(of(Moment::ago(1, Unit::Months(1)).unwrap()), "2024-02-29T12:30:15Z");
        assert_eq!(of(Moment::ago(1_000, Unit::Months(12)).unwrap()), "1024-03-31T12:30:15Z");
        assert_eq!(Moment::ago(u32::MAX, Unit::Seconds(DAY)), None);
        assert_eq!(Day::last(2, 30), None);
    }

    #[test]
    fn the_end_of_time_is_no_problem() {
        for now in [Timestamp(i64::MIN), Timestamp(i64::MAX), Timestamp(1)] {
            for moment in [
                Day::Back(255).start(),
                Moment::On(Day::Back(0), DAY),
                Day::last(2, 29).unwrap().start(),
                Moment::ago(12_000, Unit::Months(1)).unwrap(),
            ] {
                assert!(!write(moment.at(now)).is_empty());
            }
        }
    }

    #[test]
    fn two_moments_are_in_order_whenever_it_is_asked() {
        let between = |one: Moment, other: Moment| Stretch::since(one).and(Stretch::before(other)).is_some();
        let (today, yesterday) = (Day::Back(0).start(), Day::Back(1).start());
        assert!(between(yesterday, today) && !between(today, yesterday) && !between(today, today));
        assert!(!between(Day::of(2020, 1, 1).unwrap().start(), today), "it depends on the time");
        assert!(between(Day::of(2020, 1, 1).unwrap().start(), Moment::At(at("2020-01-01T10:00:00Z"))));
        assert!(!between(Day::last(1, 1).unwrap().start(), Day::last(1, 2).unwrap().start()));
    }
}
