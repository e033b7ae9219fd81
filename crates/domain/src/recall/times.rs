//! The times that a prompt names.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::AhoCorasick;
use jiff::{ToSpan, civil::Date};
use utterd_text::is_unspaced;

use crate::values::calendar;

/// A time, as precisely as a prompt names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Year(i16),
    Month(i8),
    DayOfMonth(i8),
    Weekday(i8),
    /// From the first of these minutes since 1970 to just before the second.
    Minutes(u32, u32),
    /// The last session before the present one.
    LastSession,
}

const DAY: u32 = 24 * 60;
/// The most words for times, and the most numbers, that are read in a prompt: the first ones.
const MAX_WORDS: usize = 256;

impl When {
    /// Whether this minute since 1970 is in the time, given the minutes of the last session.
    pub(super) fn holds(self, minute: u32, last_session: &Range<u32>) -> bool {
        let day = minute / DAY;
        match self {
            Self::Minutes(from, to) => (from..to).contains(&minute),
            Self::LastSession => last_session.contains(&minute),
            Self::Year(year) => calendar::date(day.into()).0 == i64::from(year),
            Self::Month(month) => calendar::date(day.into()).1 == i64::from(month),
            Self::DayOfMonth(of_month) => calendar::date(day.into()).2 == i64::from(of_month),
            // 1 January 1970 was a Thursday.
            Self::Weekday(weekday) => (day + 3) % 7 + 1 == u32::from(weekday.unsigned_abs()),
        }
    }
}

/// What a prompt says of times.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// The times that it names, and their ranges.
    pub named: Vec<(Range<usize>, When)>,
    /// Whether it asks how things are at present, so that the newest is wanted.
    pub is_present: bool,
}

/// The times that a prompt names, relative to minute `now`.
pub(super) fn times(prompt: &str, now: u32) -> Times {
    let prompt = prompt.to_lowercase();
    let named = named(&prompt);
    let mut found = spans(&named, now);
    found.extend(named.iter().filter_map(|(range, name)| match name {
        Name::Weekday(day) => Some((range.clone(), When::Weekday(*day))),
        Name::Month(month) => Some((range.clone(), When::Month(*month))),
        _ => None,
    }));
    let numbers = numbers(&prompt);
    dates(&prompt, &named, &numbers, &mut found);
    found.extend(ago(&prompt, &named, &numbers, now));
    found.sort_by_key(|(range, _)| range.start);
    let is_present = named.iter().any(|(_, name)| matches!(name, Name::Present));
    Times { named: found, is_present }
}

/// The meanings of words for times.
#[derive(Clone, Copy)]
enum Name {
    Span(Span),
    LastSession,
    Month(i8),
    Weekday(i8),
    /// How things are at present.
    Present,
    /// Counts back, together with a number and a unit.
    Ago,
    /// A unit of this many days.
    Unit(u32),
}

/// All words for times, with their meanings.
struct Names {
    words: AhoCorasick,
    names: Vec<Name>,
}

static NAMES: LazyLock<Option<Names>> = LazyLock::new(|| {
    let lines = include_str!("times.tsv").lines().filter_map(|line| {
        let (kind, rest) = line.split_once('\t')?;
        let (number, words) = rest.split_once('\t')?;
        Some((Name::of(kind, number.parse().ok()?)?, words))
    });
    let words = lines.flat_map(|(name, words)| words.split('|').map(move |word| (word, name)));
    let (words, names): (Vec<&str>, Vec<Name>) = words.unzip();
    // Building fails only for far more words than these.
    Some(Names { words: AhoCorasick::new(words).ok()?, names })
});

impl Name {
    /// What a line of `times.tsv` names: of a kind, and its number.
    fn of(kind: &str, number: u32) -> Option<Self> {
        Some(match kind {
            "day" => Self::Span(Span::Day(number)),
            "week" => Self::Span(Span::Week(number.into())),
            "past week" => Self::Span(Span::PastWeek),
            "last month" => Self::Span(Span::LastMonth),
            "last session" => Self::LastSession,
            "month" => Self::Month(number.try_into().ok()?),
            "weekday" => Self::Weekday(number.try_into().ok()?),
            "present" => Self::Present,
            "ago" => Self::Ago,
            _ => Self::Unit(number),
        })
    }
}

/// The words for times in a lower-case prompt, with their ranges.
fn named(prompt: &str) -> Vec<(Range<usize>, Name)> {
    let Some(names) = &*NAMES else { return Vec::new() };
    let found = names.words.find_overlapping_iter(prompt);
    let whole = found.filter(|found| stands_alone(prompt, found.range()));
    let named = whole.map(|found| (found.range(), names.names[found.pattern().as_usize()]));
    named.take(MAX_WORDS).collect()
}

/// Whether the range is not part of a longer word in a script with spaces.
fn stands_alone(text: &str, range: Range<usize>) -> bool {
    let (before, after) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
    let goes_on = text[range].ends_with(is_spaced) && after.is_some_and(is_spaced);
    !goes_on && !before.is_some_and(is_spaced)
}

fn date(minute: u32) -> Option<Date> {
    let days = i64::from(minute / DAY);
    Date::constant(1970, 1, 1).checked_add(days.days()).ok()
}

/// The minutes from the start of one day to the start of another.
fn between(from: Date, to: Date) -> Option<When> {
    let minute = |date: Date| {
        let days = date.since(Date::constant(1970, 1, 1)).ok()?.get_days();
        u32::try_from(days).ok()?.checked_mul(DAY)
    };
    Some(When::Minutes(minute(from)?, minute(to)?))
}

/// A span of `days` days that starts `before` days before the day of `now`.
fn days_before(now: u32, before: u32, days: u32) -> Option<When> {
    let first = date(now)?.checked_sub(i64::from(before).days()).ok()?;
    between(first, first.checked_add(i64::from(days).days()).ok()?)
}

/// Spans of time that words can name.
#[derive(Clone, Copy)]
enum Span {
    /// A day, this many days ago.
    Day(u32),
    /// The seven days up to today.
    PastWeek,
    /// A week from Monday (ISO 8601), this many weeks ago.
    Week(i64),
    /// The month before this one.
    LastMonth,
}

impl Span {
    fn at(self, now: u32) -> Option<When> {
        let today = date(now)?;
        match self {
            Self::Day(ago) => days_before(now, ago, 1),
            Self::PastWeek => days_before(now, 6, 7),
            Self::Week(ago) => {
                let since_monday = i64::from(today.weekday().to_monday_zero_offset());
                let monday = today.checked_sub((since_monday + 7 * ago).days()).ok()?;
                between(monday, monday.checked_add(7.days()).ok()?)
            }
            Self::LastMonth => {
                let first = today.first_of_month();
                between(first.checked_sub(1.month()).ok()?, first)
            }
        }
    }
}

/// The spans of time named in a prompt. If one lies within another, as `yesterday` in `the day before
/// yesterday`, only the longer one counts.
fn spans(named: &[(Range<usize>, Name)], now: u32) -> Vec<(Range<usize>, When)> {
    let when = |name: &Name| match name {
        Name::Span(span) => span.at(now),
        Name::LastSession => Some(When::LastSession),
        _ => None,
    };
    let all: Vec<_> = named.iter().filter_map(|(range, name)| Some((range.clone(), when(name)?))).collect();
    let is_within = |one: &Range<usize>, other: &Range<usize>| {
        one != other && other.start <= one.start && one.end <= other.end
    };
    let outer = all.iter().filter(|(range, _)| !all.iter().any(|(other, _)| is_within(range, other)));
    outer.cloned().collect()
}

/// Adds years, days next to a month, and numeric months.
fn dates(
    prompt: &str,
    named: &[(Range<usize>, Name)],
    numbers: &[(Range<usize>, i16)],
    found: &mut Vec<(Range<usize>, When)>,
) {
    let months = || named.iter().filter(|(_, name)| matches!(name, Name::Month(_)));
    for (range, number) in numbers {
        let marked = |mark: char| prompt[range.end..].trim_start().starts_with(mark);
        let near = |month: &Range<usize>| {
            let between =
                if month.end <= range.start { month.end..range.start } else { range.end..month.start };
            prompt
                .get(between)
                .is_some_and(|between| between.len() <= 6 && !between.contains(['?', '!', ';']))
        };
        let small = i8::try_from(*number).unwrap_or(0);
        if marked('月') && (1..=12).contains(number) {
            found.push((range.clone(), When::Month(small)));
        } else if marked('年') || (1900..2100).contains(number) && !is_joined(prompt, range) {
            found.push((range.clone(), When::Year(*number)));
        } else if (1..=31).contains(number)
            && (marked('日') || marked('号') || months().any(|(month, _)| near(month)))
        {
            found.push((range.clone(), When::DayOfMonth(small)));
        }
    }
}

/// Whether digits belong to something longer: `CVE-2021-44228`, `report_2024`, `$2000`.
fn is_joined(prompt: &str, digits: &Range<usize>) -> bool {
    let joins = |c: Option<char>, beyond: Option<char>| match c {
        Some('.' | ',' | ':') => beyond.is_some_and(is_spaced),
        Some('?' | '!' | ';' | '"' | '\'' | '(' | ')' | '[' | ']') | None => false,
        Some(c) => c.is_ascii_punctuation() || is_spaced(c) || "€£¥₹".contains(c),
    };
    let (mut before, mut after) = (prompt[..digits.start].chars().rev(), prompt[digits.end..].chars());
    joins(before.next(), before.next()) || joins(after.next(), after.next())
}

fn is_spaced(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

/// The first runs of one to four digits, with their ranges.
fn numbers(prompt: &str) -> Vec<(Range<usize>, i16)> {
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(start) = prompt[at..].find(|c: char| c.is_ascii_digit()).map(|offset| at + offset)
        && numbers.len() < MAX_WORDS
    {
        let length = prompt[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(prompt.len() - start);
        at = start + length;
        if let (0..=4, Ok(number)) = (length, prompt[start..at].parse()) {
            numbers.push((start..at, number));
        }
    }
    numbers
}

/// `three weeks ago`, with the number in digits: a span about as precise as the phrase.
fn ago(
    prompt: &str,
    named: &[(Range<usize>, Name)],
    numbers: &[(Range<usize>, i16)],
    now: u32,
) -> Option<(Range<usize>, When)> {
    let (mark, _) = named.iter().find(|(_, name)| matches!(name, Name::Ago))?;
    let (range, count) = numbers.first()?;
    let days = named.iter().find_map(|(unit, name)| match name {
        Name::Unit(days) if prompt.get(range.end..unit.start)?.trim().is_empty() => Some(*days),
        _ => None,
    })?;
    let back = u32::try_from(*count).ok()?.checked_mul(days)?;
    let slack = days / 2;
    let when = days_before(now, back.checked_add(slack)?, 2 * slack + 1)?;
    Some((range.start.min(mark.start)..range.end.max(mark.end), when))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_belong_to_something_longer_are_no_year() {
        let years = |prompt: &str| times(prompt, 0).named.len();
        for prompt in
            ["in 2019.", "2019?", "(2019)", "the 2019's", "2019年", "在2019年", "May 5, 2019", "\"2019\""]
        {
            assert!(years(prompt) > 0, "{prompt}");
        }
        for prompt in [
            "CVE-2019-1",
            "a_2019",
            "2019.pdf",
            "#2019",
            "12/2019",
            "v2019",
            "2019px",
            "$2019",
            "2019%",
            "1,2019",
        ] {
            assert_eq!(years(prompt), 0, "{prompt}");
        }
    }

    #[test]
    fn the_calendar_is_gregorian() {
        for day in (0..=u32::MAX / DAY).step_by(13) {
            let date = Date::constant(1970, 1, 1).checked_add(i64::from(day).days());
            let Ok(date) = date else { break };
            let told = (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
            assert_eq!(calendar::date(day.into()), told, "{date}");
            let weekday = When::Weekday(date.weekday().to_monday_one_offset());
            assert!(weekday.holds(day * DAY, &(0..0)), "{date}");
        }
    }
}
