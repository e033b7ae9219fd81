//! Numbers, dates, times, amounts, and what consists of digits and capitals.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{kind::Kind, part::Role};

/// Signs of currencies.
const SIGNS: &str = "$€£¥₹₽₩₪₺₴₫฿₦";
/// ISO codes of the currencies that are traded most, and how people write some.
const CURRENCIES: &str = " USD EUR GBP JPY CHF CNY INR RUB BRL CAD AUD NZD SEK NOK DKK PLN CZK HUF TRY KRW MXN ZAR SGD HKD ILS UAH \
    euro euros eur dollar dollars usd pounds yen rupees kr zł руб рублей рубля грн ";
/// Months, as they are written in the languages of the cues; in short only where that is no other word.
const MONTHS: &str = " january february march april may june july august september october november december jan feb mar apr jun \
    jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember enero febrero marzo abril mayo junio \
    julio agosto septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre octobre \
    novembre décembre gennaio febbraio maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio \
    junho julho setembro outubro novembro dezembro januari februari maart mei augustus января февраля марта апреля мая \
    июня июля августа сентября октября ноября декабря ";
/// Days of the week, but for those that mean something else in another language.
const DAYS: &str = " monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag \
    sonntag lunes martes miércoles jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche \
    lunedì martedì mercoledì giovedì venerdì sabato domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag \
    понедельник вторник среду четверг пятницу субботу воскресенье ";
const CLOCKS: &str = " am pm a.m p.m uhr uur o'clock o’clock ";

/// What a token is that has to do with numbers, and how long it is. `rest` is the text from the token on.
pub(super) fn read(rest: &str, said: &str) -> Option<(Role, usize)> {
    if let Some(length) = wide_date(rest) {
        return Some((Role::Whole(Kind::Date), length));
    }
    if let Some(word) = word(said) {
        return Some((word, said.len()));
    }
    if let Some(length) = money(said) {
        return Some((Role::Whole(Kind::Money), length));
    }
    let unsigned = said.trim_start_matches(['+', '-', '~', '±']);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let role = match () {
        () if is_date(said) => Role::Whole(Kind::Date),
        () if is_time(said) => Role::Whole(Kind::Time),
        () if unsigned.len() == 1 || said.len() < 5 && is_ordinal(said) => Role::Digit,
        () if is_number(unsigned) => Role::Whole(Kind::Number),
        () => return None,
    };
    Some((role, said.len()))
}

/// A word that belongs to a number.
pub(super) fn word(said: &str) -> Option<Role> {
    if said.len() <= 3 && SIGNS.contains(said) {
        return Some(Role::Currency);
    }
    let is_long = said.len() > 24 || said.starts_with(|c: char| c.is_ascii_digit());
    let known = |word: &str| WORDS.get(word).copied();
    match said.chars().any(char::is_uppercase) {
        _ if is_long => None,
        // codes of currencies are in capitals
        true => known(said).or_else(|| known(&said.to_lowercase()).filter(|role| *role != Role::Currency)),
        false => known(said),
    }
}

static WORDS: LazyLock<FxHashMap<&'static str, Role>> = LazyLock::new(|| {
    let day = Role::Whole(Kind::Date);
    let lists = [(CURRENCIES, Role::Currency), (MONTHS, Role::Month), (DAYS, day), (CLOCKS, Role::Clock)];
    lists.into_iter().flat_map(|(list, role)| list.split_whitespace().map(move |word| (word, role))).collect()
});

/// `$3.50`, `US$40`, `3.50€`, `$5k`.
fn money(said: &str) -> Option<usize> {
    let is_sign = |c: char| SIGNS.contains(c);
    let letters = said.bytes().take(3).take_while(u8::is_ascii_uppercase).count();
    let behind = said[letters..].strip_prefix(is_sign);
    let amount = behind.or_else(|| said.strip_suffix(is_sign))?;
    let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_amount = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(is_numeric);
    (is_amount && amount.len() - digits.len() < 3).then_some(said.len())
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

/// `3rd`, `14th`, `1er`: a day, beside a month.
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
