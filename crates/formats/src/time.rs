//! Times in ISO 8601.

use jiff::{civil, tz::TimeZone};

use utterd_domain::{Timestamp, forgetting};

/// Reads a time; UTC if it has no offset, midnight if it has no time of day.
pub fn read(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<jiff::Timestamp>();
    let time =
        zoned.or_else(|_| text.parse::<civil::DateTime>()?.to_zoned(TimeZone::UTC).map(|it| it.timestamp()));
    time.ok().map(|time| Timestamp(time.as_microsecond()))
}

/// Reads a time as people and models write it, relative to `now`: "2026-11-20", "yesterday", "3 days ago". Of a day, or
/// of a longer time, its beginning is meant.
pub fn moment(text: &str, now: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let time = forgetting::moment(text, Timestamp(now.as_microsecond()))?;
    jiff::Timestamp::from_microsecond(time.0).ok()
}

/// Writes a time in UTC as JavaScript's `toISOString` does: to the millisecond, or to the microsecond if
/// needed.
pub fn write(time: Timestamp) -> String {
    let digits = if time.0.rem_euclid(1_000) == 0 { 3 } else { 6 };
    match jiff::Timestamp::from_microsecond(time.0) {
        Ok(time) => format!("{time:.digits$}"),
        Err(_) => format!("{:.digits$}", jiff::Timestamp::UNIX_EPOCH),
    }
}

/// Writes the date of a time in UTC: `2025-01-15`.
pub fn date(time: Timestamp) -> String {
    let mut text = write(time);
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["2025-01-15T10:00:00.000Z", "2025-01-15T10:00:05.123456Z", "1969-12-31T23:59:59.999Z"] {
            assert_eq!(write(read(text).unwrap()), text);
        }
        assert_eq!(date(read("2025-01-15T10:00:00Z").unwrap()), "2025-01-15");
    }

    #[test]
    fn other_spellings_are_read() {
        let noon = read("2025-01-15T12:00:00Z");
        assert!(noon.is_some());
        assert_eq!(read("2025-01-15T13:00:00+01:00"), noon);
        assert_eq!(read("2025-01-15T12:00:00"), noon);
        assert_eq!(read("2025-01-15").map(|time| time.0 + 43_200_000_000), noon.map(|time| time.0));
        for text in ["", "yesterday", "2025-13-01T00:00:00Z", "12:00"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
