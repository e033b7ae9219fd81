//! Times: "yesterday", "since 10 am", "before November 20", "older than a week", "in the last 5 minutes". All
//! in UTC.

use crate::forgetting::{
    Result, doubts,
    time::{DAY, Day, Moment, Stretch, Unit},
};

use super::{
    cursor::Cursor,
    date::{clock, date, named_part, part, stamp, told},
    number::{count, dash, narrow},
    selection::Selection,
};

const VAGUE: &str = "say the day as a date, such as 2026-11-20, or today or yesterday";
const WHICH_END: &str = "say before or after: it is not clear whether that day is meant too";
const FROM_OR_ON: &str = "say from … on, or on: it is not clear whether what came later is meant too";
const TOO_LONG: &str = "that is too long ago";
const PAIR: &str = "two times must be in order and of the same kind, such as two dates with years";

/// A moment, or a day.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub start: Moment,
    end: Moment,
}

impl Time {
    /// The time between the ends of a stretch that has both.
    fn of(stretch: Stretch) -> Option<Self> {
        Some(Self { start: stretch.since?, end: stretch.before? })
    }
}

/// Consumes a time modifier.
///
/// # Errors
/// A time that is understood but ambiguous.
pub(super) fn timed(cursor: &mut Cursor<'_>, selection: &mut Selection) -> Result<bool> {
    let start = cursor.at();
    let Some(stretch) = stretch(cursor)? else {
        cursor.back(start);
        return Ok(false);
    };
    let joined = selection.add_time(stretch);
    if !joined {
        return Err(cursor.refused(start, PAIR));
    }
    let sides = matches!(cursor.word_at(cursor.at() + 1), "before" | "after" | "since" | "until");
    if cursor.peek_word() == "and" && sides {
        cursor.advance();
        return if timed(cursor, selection)? { Ok(true) } else { Err(cursor.not_understood()) };
    }
    Ok(true)
}

/// Consumes a time that is an object on its own: "today", "this morning", "the last hour".
pub(super) fn time_alone(cursor: &mut Cursor<'_>) -> Result<Option<Stretch>> {
    let start = cursor.at();
    match told(cursor) {
        Some(day) if cursor.peek_word() != "'s" => Ok(Some(day)),
        Some(_) => {
            cursor.back(start);
            Ok(None)
        }
        None => recent(cursor),
    }
}

/// Consumes "today's", "this morning's".
pub(super) fn possessive(cursor: &mut Cursor<'_>) -> Option<Stretch> {
    let start = cursor.at();
    let day = told(cursor).filter(|_| cursor.word("'s"));
    cursor.back_unless(day.is_some(), start);
    day
}

/// Consumes "yesterday", "from this morning", "in the last hour": when something was said.
pub(super) fn day_said(cursor: &mut Cursor<'_>) -> Result<Option<Stretch>> {
    let start = cursor.at();
    let found = match () {
        () if cursor.any(&["in", "within", "during", "over"]) => recent(cursor)?,
        () => {
            cursor.any(&["from", "on"]);
            told(cursor)
        }
    };
    cursor.back_unless(found.is_some(), start);
    Ok(found)
}

fn stretch(cursor: &mut Cursor<'_>) -> Result<Option<Stretch>> {
    let start = cursor.at();
    if let Some(day) = told(cursor) {
        return Ok(Some(day));
    }
    if let Some(aged) = aged(cursor)? {
        return Ok(Some(aged));
    }
    let found = match () {
        () if cursor.word("between") => between(cursor, start)?,
        () if cursor.any(&["from", "starting", "beginning"]) => from(cursor, start)?,
        () if cursor.any(&["in", "within", "during", "of", "over"]) => match recent(cursor)? {
            None => told(cursor),
            recent => recent,
        },
        () if cursor.word("on") => match told(cursor) {
            None => date(cursor)?.map(Day::whole),
            told => told,
        },
        () => sided(cursor, start)?,
    };
    let vague = cursor.at() > start && doubts::is_time(cursor.peek_word());
    match found {
        None if vague || cursor.phrases(&["last week", "last month", "last year", "this week"]) => {
            Err(cursor.refused(start, VAGUE))
        }
        found => Ok(found),
    }
}

/// Consumes "before 10 am" and the like.
fn sided(cursor: &mut Cursor<'_>, start: usize) -> Result<Option<Stretch>> {
    if cursor.phrases(&["before", "prior to", "preceding", "earlier than", "older than"]) {
        return Ok(time(cursor)?.map(|time| Stretch::before(time.start)));
    }
    if cursor.phrases(&["after", "following", "later than", "newer than"]) {
        return Ok(time(cursor)?.map(|time| Stretch::since(time.end)));
    }
    if cursor.word("since") {
        return Ok(time(cursor)?.map(|time| Stretch::since(time.start)));
    }
    if cursor.phrases(&["until", "till", "up to"]) {
        return match time(cursor)? {
            Some(time) if time.start != time.end => Err(cursor.refused(start, WHICH_END)),
            time => Ok(time.map(|time| Stretch::before(time.start))),
        };
    }
    Ok(None)
}

/// Consumes "older than a week", "more than an hour ago", "less than 2 days old".
fn aged(cursor: &mut Cursor<'_>) -> Result<Option<Stretch>> {
    let start = cursor.at();
    cursor.word("from");
    let alone = cursor.phrases(&["older than", "earlier than"]);
    let newer = !alone && cursor.phrases(&["newer than", "younger than"]);
    let more = !alone && !newer && cursor.phrases(&["more than", "over"]);
    let less = !alone && !newer && !more && cursor.phrases(&["less than", "under"]);
    if alone || newer || more || less {
        let moment = before_now(cursor)?;
        let ended = cursor.any(&["old", "ago"]);
        if let Some(moment) = moment.filter(|_| alone || newer || ended) {
            let since = newer || less;
            return Ok(Some(if since { Stretch::since(moment) } else { Stretch::before(moment) }));
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes what follows "between": two times.
fn between(cursor: &mut Cursor<'_>, start: usize) -> Result<Option<Stretch>> {
    let Some(first) = time(cursor)? else { return Ok(None) };
    if !cursor.any(&["and", "to"]) {
        return Err(cursor.not_understood());
    }
    up_to(cursor, start, first)
}

/// Consumes the second of two times, which is included.
fn up_to(cursor: &mut Cursor<'_>, start: usize, first: Time) -> Result<Option<Stretch>> {
    let Some(last) = time(cursor)? else { return Err(cursor.not_understood()) };
    let both = Stretch::since(first.start).and(Stretch::before(last.end));
    both.ok_or_else(|| cursor.refused(start, PAIR)).map(Some)
}

/// Consumes what follows "from": "before today", "yesterday", "10 am on", "the last hour", "10 am to 11 am".
fn from(cursor: &mut Cursor<'_>, start: usize) -> Result<Option<Stretch>> {
    let starting = cursor.word_at(start) != "from";
    if let Some(side) = sided(cursor, start)? {
        return Ok(Some(side));
    }
    if starting {
        cursor.any(&["at", "from", "on", "with"]);
    } else if let Some(recent) = recent(cursor)? {
        return Ok(Some(recent));
    }
    let day = told(cursor);
    let first = match day.and_then(Time::of) {
        Some(first) => first,
        None => match time(cursor)? {
            Some(first) => first,
            None => return Ok(None),
        },
    };
    if cursor.any(&["to", "through", "until", "till"]) || dash(cursor) {
        return up_to(cursor, start, first);
    }
    let onwards = cursor.any(&["on", "onward", "onwards", "forward", "forwards"]) || starting;
    match (onwards, day) {
        (true, _) => Ok(Some(Stretch::since(first.start))),
        (false, Some(day)) => Ok(Some(day)),
        (false, None) => Err(cursor.refused(start, FROM_OR_ON)),
    }
}

/// Consumes "the last hour", "the past 3 days", "last 5 minutes".
pub(super) fn recent(cursor: &mut Cursor<'_>) -> Result<Option<Stretch>> {
    let start = cursor.at();
    let definite = cursor.word("the");
    if cursor.any(&["last", "past"]) {
        let said = count(cursor)?;
        let ordinal = said.is_none() && cursor.peek_word() == "second";
        if (definite || said.is_some())
            && !ordinal
            && let Some(unit) = unit(cursor)
        {
            let moment = ago(cursor, start, said.unwrap_or(1), unit)?;
            return Ok(Some(Stretch::since(moment)));
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes a moment or a day: "10 am", "yesterday", "November 20 at 10:30", "two hours ago".
pub(super) fn time(cursor: &mut Cursor<'_>) -> Result<Option<Time>> {
    let at = |moment| Some(Time { start: moment, end: moment });
    if let Some(moment) = stamp(cursor) {
        return Ok(at(moment));
    }
    if let Some(part) = named_part(cursor).and_then(Time::of) {
        return Ok(Some(part));
    }
    if let Some(day) = date(cursor)? {
        let end = cursor.at();
        if let Some(part) = part(cursor, day).and_then(Time::of) {
            return Ok(Some(part));
        }
        cursor.word("at");
        if let Some(seconds) = clock(cursor) {
            return Ok(at(Moment::On(day, seconds)));
        }
        cursor.back(end);
        return Ok(Some(Time { start: day.start(), end: Moment::On(day, DAY) }));
    }
    if let Some(seconds) = clock(cursor) {
        let end = cursor.at();
        cursor.word("on");
        let day = date(cursor)?;
        cursor.back_unless(day.is_some(), end);
        return Ok(at(Moment::On(day.unwrap_or(Day::Back(0)), seconds)));
    }
    let start = cursor.at();
    let moment = before_now(cursor)?.filter(|_| cursor.word("ago"));
    cursor.back_unless(moment.is_some(), start);
    Ok(moment.and_then(at))
}

/// Consumes "a week", "3 days": the moment that long ago.
fn before_now(cursor: &mut Cursor<'_>) -> Result<Option<Moment>> {
    let start = cursor.at();
    let one = cursor.any(&["a", "an"]) && unit_of(cursor.peek_word()).is_some();
    cursor.back_unless(one, start);
    let count = if one { Some(1) } else { count(cursor)? };
    if let Some(count) = count
        && let Some(unit) = unit(cursor)
    {
        return ago(cursor, start, count, unit).map(Some);
    }
    cursor.back(start);
    Ok(None)
}

fn ago(cursor: &Cursor<'_>, start: usize, count: u64, unit: Unit) -> Result<Moment> {
    let count = narrow(cursor, start, count)?;
    Moment::ago(count, unit).ok_or_else(|| cursor.refused(start, TOO_LONG))
}

fn unit(cursor: &mut Cursor<'_>) -> Option<Unit> {
    let unit = unit_of(cursor.peek_word())?;
    cursor.advance();
    Some(unit)
}

fn unit_of(word: &str) -> Option<Unit> {
    match word.strip_suffix('s').unwrap_or(word) {
        "second" | "sec" => Some(Unit::Seconds(1)),
        "minute" | "min" => Some(Unit::Seconds(60)),
        "hour" => Some(Unit::Seconds(60 * 60)),
        "day" => Some(Unit::Seconds(DAY)),
        "week" => Some(Unit::Seconds(7 * DAY)),
        "month" => Some(Unit::Months(1)),
        "year" => Some(Unit::Months(12)),
        _ => None,
    }
}
