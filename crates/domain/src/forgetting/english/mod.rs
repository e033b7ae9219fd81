//! Plain English for what the short forms can express.
//!
//! ```text
//! VERB (QUANTITY)? (ORDER)? NOUN (FROM speaker)? (TIME)? (ABOUT topic)?
//! ```
//!
//! `forget.tsv` has the phrases of each slot, and what they mean in the short forms; a sentence is translated, and the
//! translation parsed. Each word of it fills a slot, or the sentence is refused. Each slot selects less: an utterance must
//! meet all of them.

mod slots;
mod topic;
mod words;

use jiff::{ToSpan, civil::Date, tz::TimeZone};

use crate::{
    Timestamp,
    forgetting::{
        Asked, InstructionError, Result, canonical,
        table::GRAMMAR,
        time::{Day, Moment, Stretch, near, read},
    },
};

use self::words::Words;

const QUESTION: &str = "a question; say what to forget";
/// The reason to refuse a sentence that could mean everything but is not one of those for it.
const NARROWER: &str = "say by whom, where or about what; or say everything for all of it";

/// Parses a sentence.
///
/// # Errors
/// The first words that fit no slot, or a part that is understood but cannot be expressed.
pub(super) fn parse(text: &str) -> Result<Asked> {
    let mut words = Words::of(text)?;
    let (asks, question) = words.trim();
    let start = words.at;
    let verb = words.sense("verb");
    if question && !asks || asks && verb.or_else(|| words.sense("keep")).is_none() {
        return Err(InstructionError::part(text, QUESTION));
    }
    let object = start + verb.map_or(0, |verb| verb.length);
    let short = words.slice(object, words.end);
    if object > start && short.contains(':') && canonical::is_canonical(short) {
        return canonical::parse(short);
    }
    let mut rules = GRAMMAR.rules.get("sentence").into_iter().flatten();
    let form =
        rules.find_map(|rule| words.attempt(|words| words.follow("sentence", rule).filter(|_| words.done())));
    let Some(form) = form else { return Err(misunderstood(words, object, text)) };
    let (form, means_one) = form.strip_prefix("one ").map_or((&*form, false), |form| (form, true));
    match form.trim() {
        "" | "all except" => Err(InstructionError::part(text, NARROWER)),
        form => canonical::translated(form, means_one).map_err(|error| error.of(text)),
    }
}

/// Why no rule reads the sentence, in which `object` is what to forget.
fn misunderstood(mut words: Words<'_>, object: usize, text: &str) -> InstructionError {
    if let Some(why) = words.why {
        return why;
    }
    words.at = object;
    let (forms, furthest) = (words.alone(), words.furthest);
    let at = if forms.is_empty() && furthest < words.end { furthest } else { object };
    let rest = Some(words.slice(at, words.end)).filter(|rest| !rest.is_empty());
    InstructionError::not_understood(rest.unwrap_or(text)).suggesting(forms)
}

/// Reads a time: of a day, or of a longer time, its beginning.
pub(super) fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    read(text).or_else(|| {
        let mut words = Words::of(text).ok()?;
        let moment = match words.fill("calendar") {
            Some(calendar) if calendar == "now" => Moment::At(now),
            Some(calendar) => Day::Of(first_day(&calendar, now)?).start(),
            None => {
                let time = words.fill("moment").or_else(|| words.fill("span"))?;
                Moment::read(time.split(' ').next()?.trim_start_matches("since:"))?
            }
        };
        Stretch::since(moment).at(now).0.filter(|_| words.done())
    })
}

/// The first day of "this week", "last month". A week begins on Monday (ISO 8601).
fn first_day(calendar: &str, now: Timestamp) -> Option<Date> {
    let today = near(now).to_zoned(TimeZone::UTC).date();
    let monday = i64::from(today.weekday().to_monday_zero_offset()).days();
    let (back, unit) = calendar.split_once(' ')?;
    let (first, whole) = match unit {
        "week" => (today.saturating_sub(monday), 1.week()),
        "month" => (today.first_of_month(), 1.month()),
        _ => (today.first_of_year(), 1.year()),
    };
    Some(if back == "0" { first } else { first.saturating_sub(whole) })
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

    /// However many filters or numbers a sentence has, it is read on a small stack.
    #[test]
    fn a_long_sentence_is_refused() {
        for piece in [
            "from Alice ",
            "before turn 5 ",
            "2, ",
            "the last ",
            "in turn 1 ",
            "about Rex and ",
            "that I said ",
        ] {
            for start in ["forget everything ", "forget turns ", "forget everything about Rex "] {
                let text = start.to_owned() + &piece.repeat(4_000 / piece.len());
                assert!(parse(&text).is_err(), "{start}{piece}");
            }
        }
    }
}
