//! The times that a prompt names.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::AhoCorasick;
use jiff::{ToSpan, civil::Date};

use super::words::is_unspaced;
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

/// The times that a prompt names, relative to minute `now`, and their ranges.
pub(super) fn times(prompt: &str, now: u32) -> Vec<(Range<usize>, When)> {
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
    found
}

/// The meanings of words for times.
#[derive(Clone, Copy)]
enum Name {
    Span(Span),
    LastSession,
    Month(i8),
    Weekday(i8),
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
    let mut words: Vec<(&str, Name)> = Vec::new();
    let mut add = |list: &'static str, name: Name| words.extend(list.split('|').map(|word| (word, name)));
    PHRASES.iter().for_each(|&(list, span)| add(list, Name::Span(span)));
    add(LAST_SESSION, Name::LastSession);
    (1..).zip(MONTHS).for_each(|(month, list)| add(list, Name::Month(month)));
    (1..).zip(WEEKDAYS).for_each(|(day, list)| add(list, Name::Weekday(day)));
    add(AGO, Name::Ago);
    UNITS.iter().for_each(|&(list, days)| add(list, Name::Unit(days)));
    // Building fails only for far more words than these.
    let automaton = AhoCorasick::new(words.iter().map(|(word, _)| word)).ok()?;
    Some(Names { words: automaton, names: words.into_iter().map(|(_, name)| name).collect() })
});

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
    let spaced = |c: char| c.is_alphanumeric() && !is_unspaced(c);
    let (before, after) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
    let is_spaced = text[range].ends_with(spaced);
    let goes_on = is_spaced && after.is_some_and(spaced);
    !goes_on && !before.is_some_and(spaced)
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

/// Words for spans of time.
const PHRASES: &[(&str, Span)] = &[
    ("today|heute|hoy|aujourd'hui|oggi|hoje|vandaag|сегодня|今天|今日|วันนี้|اليوم|आज", Span::Day(0)),
    ("day before yesterday|vorgestern|anteayer|avant-hier|前天|一昨日|おととい|เมื่อวานซืน", Span::Day(2)),
    (
        "yesterday|gestern|ayer|hier|ieri|ontem|gisteren|вчера|昨天|昨日|きのう|เมื่อวาน|أمس|बीते कल",
        Span::Day(1),
    ),
    (
        "this week|diese woche|dieser woche|esta semana|cette semaine|本周|这周|今週|สัปดาห์นี้|هذا الأسبوع|इस हफ़्ते|इस सप्ताह",
        Span::Week(0),
    ),
    (
        "past week|past few days|recently|in letzter zeit|últimos días|ces derniers jours|最近|เมื่อเร็วๆ นี้",
        Span::PastWeek,
    ),
    (
        "last week|letzte woche|letzter woche|vergangene woche|semana pasada|semaine dernière|上周|上星期|先週|สัปดาห์ที่แล้ว|\
         อาทิตย์ที่แล้ว|الأسبوع الماضي|पिछले हफ़्ते|पिछले हफ्ते|पिछले सप्ताह",
        Span::Week(1),
    ),
    (
        "last month|letzten monat|vergangenen monat|mes pasado|mois dernier|上个月|上月|先月|เดือนที่แล้ว|الشهر الماضي|\
         पिछले महीने",
        Span::LastMonth,
    ),
];

/// Phrases for the previous session.
const LAST_SESSION: &str = "last session|last time|last conversation|previous session|previous conversation|letztes mal|\
    letzten mal|última vez|dernière fois|上次|前回|ครั้งที่แล้ว|المرة الماضية|पिछली बार";

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

/// The months from January, and the weekdays from Monday, in languages that spell them out.
const MONTHS: [&str; 12] = [
    "january|januar|enero|janvier|gennaio|janeiro|januari|января|يناير|जनवरी|มกราคม",
    "february|februar|febrero|février|febbraio|fevereiro|februari|февраля|فبراير|फरवरी|फ़रवरी|กุมภาพันธ์",
    "march|märz|marzo|mars|março|maart|марта|مارس|मार्च|มีนาคม",
    "april|abril|avril|aprile|апреля|أبريل|अप्रैल|เมษายน",
    "may|mai|mayo|maggio|maio|mei|мая|مايو|मई|พฤษภาคม",
    "june|juni|junio|juin|giugno|junho|июня|يونيو|जून|มิถุนายน",
    "july|juli|julio|juillet|luglio|julho|июля|يوليو|जुलाई|กรกฎาคม",
    "august|agosto|août|augustus|августа|أغسطس|अगस्त|สิงหาคม",
    "september|septiembre|septembre|settembre|setembro|сентября|سبتمبر|सितंबर|सितम्बर|กันยายน",
    "october|oktober|octubre|octobre|ottobre|outubro|октября|أكتوبر|अक्टूबर|अक्तूबर|ตุลาคม",
    "november|noviembre|novembre|novembro|ноября|نوفمبر|नवंबर|नवम्बर|พฤศจิกายน",
    "december|dezember|diciembre|décembre|dicembre|dezembro|декабря|ديسمبر|दिसंबर|दिसम्बर|ธันวาคม",
];
const WEEKDAYS: [&str; 7] = [
    "monday|montag|lunes|lundi|lunedì|понедельник|الاثنين|सोमवार|星期一|周一|月曜日|วันจันทร์",
    "tuesday|dienstag|martes|mardi|martedì|вторник|الثلاثاء|मंगलवार|星期二|周二|火曜日|วันอังคาร",
    "wednesday|mittwoch|miércoles|mercredi|mercoledì|среду|الأربعاء|बुधवार|星期三|周三|水曜日|วันพุธ",
    "thursday|donnerstag|jueves|jeudi|giovedì|четверг|الخميس|गुरुवार|星期四|周四|木曜日|วันพฤหัสบดี",
    "friday|freitag|viernes|vendredi|venerdì|пятницу|الجمعة|शुक्रवार|星期五|周五|金曜日|วันศุกร์",
    "saturday|samstag|sábado|samedi|sabato|субботу|السبت|शनिवार|星期六|周六|土曜日|วันเสาร์",
    "sunday|sonntag|domingo|dimanche|domenica|воскресенье|الأحد|रविवार|星期日|周日|日曜日|วันอาทิตย์",
];

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
        } else if marked('年') || (1900..2100).contains(number) {
            found.push((range.clone(), When::Year(*number)));
        } else if (1..=31).contains(number)
            && (marked('日') || marked('号') || months().any(|(month, _)| near(month)))
        {
            found.push((range.clone(), When::DayOfMonth(small)));
        }
    }
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

/// Words that count back.
const AGO: &str = "ago|vor|hace|il y a|fa";
const UNITS: &[(&str, u32)] = &[
    ("days|day|tagen|tag|días|día|jours|jour|giorni", 1),
    ("weeks|week|wochen|woche|semanas|semana|semaines|semaine|settimane", 7),
    ("months|month|monaten|monat|meses|mes|mois|mesi", 30),
];

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
