//! Numbers, dates, times, amounts, and what consists of digits and capitals.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::kind::Kind;

/// Signs of currencies.
const SIGNS: &str = "$€£¥₹₽₩₪₺₴₫฿₦";
/// Months and days of the week, as they are written in the languages of the cues, but for those that mean something else
/// in another language.
const CALENDAR: &str = "january february august september october november december januar februar oktober dezember febrero \
    septiembre octubre noviembre diciembre janvier février juillet septembre octobre novembre décembre gennaio febbraio \
    maggio giugno luglio settembre ottobre dicembre janeiro fevereiro setembro outubro novembro dezembro januari februari \
    augustus января февраля марта апреля июня июля августа сентября октября ноября декабря monday tuesday wednesday \
    thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes miércoles \
    jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche lunedì martedì mercoledì giovedì \
    venerdì sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag понедельник вторник среду четверг \
    пятницу субботу воскресенье";

/// What a token is that has to do with numbers, and how long it is. `rest` is the text from the token on.
pub(super) fn read(rest: &str, said: &str) -> Option<(Kind, usize)> {
    if let Some(length) = wide_date(rest) {
        return Some((Kind::Date, length));
    }
    let unsigned = said.trim_start_matches(['+', '-', '~', '±']);
    let kind = match () {
        () if is_money(said) => Kind::Money,
        () if !unsigned.starts_with(|c: char| c.is_ascii_digit()) => {
            return of_calendar(said).map(|kind| (kind, said.len()));
        }
        () if is_date(said) => Kind::Date,
        () if is_time(said) => Kind::Time,
        () if unsigned.len() > 1 && is_number(unsigned) && !is_ordinal(said) => Kind::Number,
        () => return None,
    };
    Some((kind, said.len()))
}

/// A date, if a word is of the calendar.
pub(super) fn of_calendar(word: &str) -> Option<Kind> {
    static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| CALENDAR.split_whitespace().collect());
    let is_capital = word.starts_with(char::is_uppercase);
    let is_known = word.len() <= 24
        && if is_capital { WORDS.contains(&*word.to_lowercase()) } else { WORDS.contains(word) };
    is_known.then_some(Kind::Date)
}

/// `$3.50`, `US$40`, `3.50€`, `$5k`.
fn is_money(said: &str) -> bool {
    let is_sign = |c: char| SIGNS.contains(c);
    let letters = said.bytes().take(3).take_while(u8::is_ascii_uppercase).count();
    let behind = said[letters..].strip_prefix(is_sign);
    let Some(amount) = behind.or_else(|| said.strip_suffix(is_sign)) else { return false };
    let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_amount = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(is_numeric);
    is_amount && amount.len() - digits.len() < 3
}

fn is_numeric(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b',')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The lengths of groups of digits between marks.
fn groups(text: &str, mark: char) -> Option<SmallVec<[usize; 8]>> {
    text.split(mark).map(|group| is_digits(group).then_some(group.len())).collect()
}

/// `2024-05-27`, with or without a time, `27.05.2024`, `5/27/24`.
fn is_date(said: &str) -> bool {
    let day = said.split('T').next().unwrap_or(said);
    ['-', '/', '.'].into_iter().any(|mark| match groups(day, mark).as_deref() {
        Some([4, 1..=2, 1..=2] | [1..=2, 1..=2, 4] | [2, 2, 2]) => true,
        // `3.8.17` is a version
        Some([1..=2, 1..=2, 2]) => mark == '/',
        _ => false,
    })
}

/// `11:00`, `11:00:05`, `5pm`, `5:30pm`, `14h30`.
fn is_time(said: &str) -> bool {
    let lower = said.to_ascii_lowercase();
    let clock = ["am", "pm", "a.m", "p.m", "z"].iter().find_map(|end| lower.strip_suffix(end));
    let digits = clock.unwrap_or(&lower);
    let french = digits
        .split_once('h')
        .is_some_and(|(hour, rest)| is_digits(hour) && hour.len() < 3 && is_digits(rest) && rest.len() == 2);
    let is_hour = clock.is_some() && is_digits(digits) && digits.len() < 3;
    is_hour || french || matches!(groups(digits, ':').as_deref(), Some([1..=2, 2] | [1..=2, 2, 2]))
}

/// `3rd`, `14th`, `1er`: a day, which says little without its month.
fn is_ordinal(said: &str) -> bool {
    let digits = said.trim_end_matches(|c: char| c.is_alphabetic());
    digits.len() < said.len()
        && is_digits(digits)
        && ["st", "nd", "rd", "th", "er"].contains(&&said[digits.len()..])
}

/// Digits with marks between them, and a short unit.
fn is_number(said: &str) -> bool {
    let digits =
        said.trim_end_matches(|c: char| c.is_alphabetic() || matches!(c, '%' | '°' | '‰' | '²' | '³'));
    let unit = said[digits.len()..].chars().count();
    let is_telephone = || digits.len() > 7 && groups(digits, '-').is_some();
    unit <= 3 && (digits.bytes().all(is_numeric) && !is_version(digits) || is_telephone())
}

/// `1.2.3`, `10.0.0.1`, but not `1.249.500`.
fn is_version(digits: &str) -> bool {
    let parts = groups(digits, '.').unwrap_or_default();
    parts.len() > 2 && !parts[1..].iter().all(|length| *length == 3)
}

/// Digits and letters that number a thing: capitals (`AB12CD`, `HAT-136`), hexadecimal ones, a version, `#4512`.
pub(super) fn is_code(said: &str) -> bool {
    let bare = said.strip_prefix('#').unwrap_or(said);
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/');
    if bare.is_empty() || !bare.bytes().all(is_char) {
        return false;
    }
    let count = |class: fn(&u8) -> bool| bare.bytes().filter(class).count();
    let (digits, capitals, small) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let is_hex = bare.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    match () {
        () if is_version(bare.strip_prefix('v').unwrap_or(bare)) => true,
        () if bare.contains(['.', '/']) => false,
        () if bare.len() < said.len() => digits > 0,
        () if small == 0 => digits > 0 && capitals > 0 && bare.len() >= 4,
        () => is_hex && digits > 1 && bare.len() >= 7,
    }
}

/// `2024年5月14日`, or a part of it.
fn wide_date(rest: &str) -> Option<usize> {
    let mut at = 0;
    for unit in ['年', '月', '日'] {
        let digits = rest[at..].bytes().take(4).take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[at + digits..].starts_with(unit) {
            at += digits + unit.len_utf8();
        }
    }
    (at > 0).then_some(at)
}
