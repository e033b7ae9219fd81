//! Dates and times of day: "November 20, 2026", "20th of November", "2026-11-20", "10 am", "17:30".

use jiff::civil::{Date, Weekday};

use crate::{
    forgetting::{
        Result,
        time::{Day, Moment, Stretch, read},
    },
    phrases::phrases,
};

use super::{
    cursor::{Cursor, Kind},
    number::{cardinal, digits, ordinal},
};

const MONTHS: [&str; 12] =
    phrases("january|february|march|april|may|june|july|august|september|october|november|december");
/// The days of the week, from Monday.
const WEEKDAYS: [&str; 7] = phrases("monday|tuesday|wednesday|thursday|friday|saturday|sunday");
const HOUR: u32 = 60 * 60;
/// The parts of a day, with the hours at which they begin and end, from its midnight.
const PARTS: [(&str, u32, u32); 4] =
    [("morning", 0, 12), ("afternoon", 12, 18), ("evening", 18, 24), ("night", 18, 30)];
const NO_SUCH_DAY: &str = "there is no such day; write it as 2026-11-20";

/// Consumes a time in ISO 8601: `2026-11-20T10:00:00Z`.
pub(super) fn stamp(cursor: &mut Cursor<'_>) -> Option<Moment> {
    let token = cursor.peek().filter(|token| token.kind == Kind::Word && token.lower.contains('t'))?;
    let time = token.text.starts_with(|c: char| c.is_ascii_digit()).then(|| read(token.text))??;
    cursor.advance();
    Some(Moment::At(time))
}

/// Consumes a day or a part of one: "yesterday", "this morning", "Monday evening", "3 days ago".
pub(super) fn told(cursor: &mut Cursor<'_>) -> Option<Stretch> {
    let start = cursor.at();
    cursor.word("earlier");
    if let Some(found) = named_part(cursor) {
        return Some(found);
    }
    let day = ["today", "yesterday", "the day before yesterday"].iter().position(|day| cursor.phrase(day));
    let day = day.map(|back| Day::Back(back as u8)).or_else(|| weekday(cursor)).or_else(|| days_ago(cursor));
    let Some(day) = day else {
        cursor.back(start);
        return None;
    };
    Some(part(cursor, day).unwrap_or_else(|| day.whole()))
}

/// Consumes the part of a day: "morning" after "yesterday".
pub(super) fn part(cursor: &mut Cursor<'_>, day: Day) -> Option<Stretch> {
    PARTS.iter().find(|(part, ..)| cursor.word(part)).map(|part| part_of(day, part))
}

/// Consumes "this morning", "tonight", "last night".
pub(super) fn named_part(cursor: &mut Cursor<'_>) -> Option<Stretch> {
    let start = cursor.at();
    let (day, name) = match () {
        () if cursor.word("tonight") => (Day::Back(0), "evening"),
        () if cursor.phrase("last night") => (Day::Back(1), "night"),
        () if cursor.word("this") => (Day::Back(0), cursor.word_at(start + 1)),
        () => return None,
    };
    let part = PARTS.iter().find(|(part, ..)| *part == name);
    match part {
        Some(_) if cursor.word_at(start) == "this" => cursor.advance(),
        Some(_) => {}
        None => cursor.back(start),
    }
    part.map(|part| part_of(day, part))
}

fn part_of(day: Day, &(_, from, to): &(&str, u32, u32)) -> Stretch {
    Stretch { since: Some(Moment::On(day, from * HOUR)), before: Some(Moment::On(day, to * HOUR)) }
}

/// Consumes the name of a day of the week: the last one before today.
fn weekday(cursor: &mut Cursor<'_>) -> Option<Day> {
    let offset = WEEKDAYS.iter().position(|day| cursor.word(day))?;
    Weekday::from_monday_zero_offset(offset as i8).ok().map(Day::Weekday)
}

/// Consumes "three days ago".
fn days_ago(cursor: &mut Cursor<'_>) -> Option<Day> {
    let start = cursor.at();
    let days = cardinal(cursor).ok().flatten().filter(|_| cursor.any(&["day", "days"]) && cursor.word("ago"));
    let days = days.and_then(|days| u8::try_from(days).ok());
    cursor.back_unless(days.is_some(), start);
    days.map(Day::Back)
}

/// Consumes a day: "today", "2026-11-20", "November 20", "the 20th of November 2026".
///
/// # Errors
/// A day that does not exist.
pub(super) fn date(cursor: &mut Cursor<'_>) -> Result<Option<Day>> {
    let start = cursor.at();
    for (back, day) in ["today", "yesterday", "the day before yesterday"].into_iter().enumerate() {
        if cursor.phrase(day) {
            return Ok(Some(Day::Back(back as u8)));
        }
    }
    if let Some(day) = weekday(cursor) {
        return Ok(Some(day));
    }
    if let Some(date) = iso(cursor.peek_word()) {
        cursor.advance();
        let day = Day::of(date.year(), date.month(), date.day());
        return day.ok_or_else(|| cursor.refused(start, NO_SUCH_DAY)).map(Some);
    }
    let named = match month(cursor) {
        Some(month) => day_of_month(cursor)?.map(|day| (month, day)),
        None => {
            cursor.word("the");
            let day = day_of_month(cursor)?;
            cursor.word("of");
            day.and_then(|day| month(cursor).map(|month| (month, day)))
        }
    };
    let Some((month, day)) = named else {
        cursor.back(start);
        return Ok(None);
    };
    let day = match year(cursor) {
        Some(year) => Day::of(year, month, day),
        None => Day::last(month, day),
    };
    day.ok_or_else(|| cursor.refused(start, NO_SUCH_DAY)).map(Some)
}

/// `2026-11-20`.
fn iso(word: &str) -> Option<Date> {
    (word.len() == 10 && word.contains('-')).then(|| word.parse().ok())?
}

/// Consumes the name of a month; returns its number, from 1.
fn month(cursor: &mut Cursor<'_>) -> Option<i8> {
    let word = cursor.peek_word();
    let is = |name: &&str| word == *name || word == &name[..3] || word == "sept" && name.starts_with(word);
    let month = MONTHS.iter().position(is)?;
    cursor.advance();
    cursor.mark('.');
    Some(month as i8 + 1)
}

/// Consumes "20", "20th", "twentieth".
fn day_of_month(cursor: &mut Cursor<'_>) -> Result<Option<i8>> {
    let start = cursor.at();
    let day = match digits(cursor.peek_word()) {
        Some(day) => {
            cursor.advance();
            Some(day)
        }
        None => ordinal(cursor)?,
    };
    let day = day.filter(|day| (1..=31).contains(day)).map(|day| day as i8);
    cursor.back_unless(day.is_some(), start);
    Ok(day)
}

/// Consumes a four-digit year, optionally after a comma.
fn year(cursor: &mut Cursor<'_>) -> Option<i16> {
    let start = cursor.at();
    cursor.mark(',');
    let word = cursor.peek_word();
    let year = digits(word).filter(|_| word.len() == 4).and_then(|year| i16::try_from(year).ok());
    match year {
        Some(_) => cursor.advance(),
        None => cursor.back(start),
    }
    year
}

/// Consumes a time of day; returns it in seconds since midnight: "10 am", "5:30 p.m.", "17:30", "noon".
pub(super) fn clock(cursor: &mut Cursor<'_>) -> Option<u32> {
    let start = cursor.at();
    if cursor.any(&["noon", "midday"]) {
        return Some(12 * HOUR);
    }
    if cursor.word("midnight") {
        return Some(0);
    }
    let word = cursor.peek_word().to_owned();
    let (figures, mut half) = match word.find(|c: char| !c.is_ascii_digit() && c != ':') {
        Some(end) => (&word[..end], half_of(&word[end..])),
        None => (&*word, None),
    };
    let is_whole = figures.len() == word.len();
    if figures.is_empty() || !is_whole && half.is_none() {
        return None;
    }
    cursor.advance();
    if is_whole {
        half = half_of(cursor.peek_word());
        if half.is_some() {
            cursor.advance();
        }
    }
    if half.is_some() {
        cursor.mark('.');
    }
    let seconds = seconds(figures, half);
    match seconds {
        Some(_) => _ = cursor.word("utc"),
        None => cursor.back(start),
    }
    seconds
}

/// The half of the day that `word` names: true for the second.
fn half_of(word: &str) -> Option<bool> {
    match word {
        "am" | "a.m" => Some(false),
        "pm" | "p.m" => Some(true),
        _ => None,
    }
}

/// Parses `H`, `H:MM` or `H:MM:SS`; `H` alone only with a half of the day.
fn seconds(figures: &str, half: Option<bool>) -> Option<u32> {
    let parts: Vec<&str> = figures.split(':').collect();
    let below =
        |text: &str, end: u64| digits(text).filter(|number| *number < end).map(|number| number as u32);
    let sixtieth = |part: Option<&&str>| match part {
        None => Some(0),
        Some(part) => below(part, 60).filter(|_| part.len() == 2),
    };
    let hour = below(parts.first()?, 24)?;
    let hour = match half {
        None if parts.len() == 1 => return None,
        None => hour,
        Some(second) => (1..=12).contains(&hour).then_some(hour % 12 + if second { 12 } else { 0 })?,
    };
    let (minutes, seconds) = (sixtieth(parts.get(1))?, sixtieth(parts.get(2))?);
    (parts.len() <= 3).then_some((hour * 60 + minutes) * 60 + seconds)
}
