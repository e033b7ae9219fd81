//! A time on its own: "yesterday", "3 days ago", "last week". All in UTC.

use jiff::{ToSpan, civil::Date, tz::TimeZone};

use super::{
    cursor::Cursor,
    time::{recent, time},
};
use crate::{
    Timestamp,
    forgetting::time::{Day, Moment, Stretch, near, read},
};

/// Reads a time: of a day, or of a longer time, its beginning.
pub(in crate::forgetting) fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    read(text).or_else(|| {
        let mut cursor = Cursor::new(text).ok()?;
        let moment = told(&mut cursor, now)?;
        Stretch::since(moment).at(now).0.filter(|_| cursor.done())
    })
}

fn told(cursor: &mut Cursor<'_>, now: Timestamp) -> Option<Moment> {
    if cursor.word("now") {
        return Some(Moment::At(now));
    }
    if let Some(first) = first_day(cursor, now) {
        return Some(Day::Of(first).start());
    }
    match recent(cursor).ok()? {
        Some(stretch) => stretch.since,
        None => time(cursor).ok()?.map(|time| time.start),
    }
}

/// Consumes "this week", "last month": its first day. A week begins on Monday (ISO 8601).
fn first_day(cursor: &mut Cursor<'_>, now: Timestamp) -> Option<Date> {
    let today = near(now).to_zoned(TimeZone::UTC).date();
    let monday = today.saturating_sub(i64::from(today.weekday().to_monday_zero_offset()).days());
    let units = [
        ("week", monday, 1.week()),
        ("month", today.first_of_month(), 1.month()),
        ("year", today.first_of_year(), 1.year()),
    ];
    units.into_iter().find_map(|(unit, first, whole)| match () {
        () if cursor.phrase(&format!("this {unit}")) => Some(first),
        () if cursor.phrase(&format!("last {unit}")) => Some(first.saturating_sub(whole)),
        () => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forgetting::time::write;

    #[test]
    fn a_time_is_read_as_people_write_it() {
        let now = read("2026-11-26T15:30:00Z").unwrap();
        for (text, expected) in [
            ("now", "2026-11-26T15:30:00Z"),
            ("Today", "2026-11-26"),
            ("yesterday", "2026-11-25"),
            ("the day before yesterday", "2026-11-24"),
            ("3 days ago", "2026-11-23T15:30:00Z"),
            ("an hour ago", "2026-11-26T14:30:00Z"),
            ("two weeks ago", "2026-11-12T15:30:00Z"),
            ("the last 2 hours", "2026-11-26T13:30:00Z"),
            ("this morning", "2026-11-26"),
            ("Monday", "2026-11-23"),
            ("this week", "2026-11-23"),
            ("last week", "2026-11-16"),
            ("last month", "2026-10-01"),
            ("last year", "2025-01-01"),
            ("2026-11-20", "2026-11-20"),
            ("2026-11-20 10:00", "2026-11-20T10:00:00Z"),
            ("2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00Z"),
            ("November 20", "2026-11-20"),
            ("yesterday at 10:30", "2026-11-25T10:30:00Z"),
        ] {
            assert_eq!(moment(text, now).map(write).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_not_read() {
        for text in ["", "soon", "yesterday or so", "5", "2026-13-01", "last", "\"yesterday"] {
            assert_eq!(moment(text, Timestamp(0)), None, "{text}");
        }
    }
}
