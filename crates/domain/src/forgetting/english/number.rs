//! Numbers and ordinals, in digits and in words.

use crate::{
    forgetting::{Numbers, Result},
    phrases::phrases,
};

use super::cursor::Cursor;

/// Zero to nineteen, in order.
const UNITS: [&str; 20] = phrases(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|\
    seventeen|eighteen|nineteen",
);
/// The ordinals of [`UNITS`].
const UNIT_ORDINALS: [&str; 20] = phrases(
    "zeroth|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|\
    fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth",
);
/// Twenty to ninety, in order.
const TENS: [&str; 8] = phrases("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety");

const FROM_ONE: &str = "numbers count from 1";
const TOO_LARGE: &str = "the number is too large";

/// Consumes a number from 1: `7`, `#7`, "seven", "twenty-one", "a hundred and five".
///
/// # Errors
/// Zero, or a number that does not fit in 64 bits.
pub(super) fn cardinal(cursor: &mut Cursor<'_>) -> Result<Option<u64>> {
    let start = cursor.at();
    let word = cursor.peek_word();
    let written = word.strip_prefix('#').unwrap_or(word);
    if is_digits(written) {
        let number = digits(written);
        cursor.advance();
        return positive(cursor, start, number).map(Some);
    }
    match in_words(cursor) {
        Some(number) => positive(cursor, start, Some(number)).map(Some),
        None => Ok(None),
    }
}

/// Consumes a quantity: a cardinal, "a dozen", "a couple of", "a pair of".
pub(super) fn count(cursor: &mut Cursor<'_>) -> Result<Option<u64>> {
    let start = cursor.at();
    cursor.word("a");
    let number = match () {
        () if cursor.word("dozen") => Some(12),
        () if cursor.any(&["couple", "pair"]) => {
            cursor.word("of");
            Some(2)
        }
        () => None,
    };
    if number.is_none() {
        cursor.back(start);
        return cardinal(cursor);
    }
    Ok(number)
}

/// Consumes an ordinal from 1: `3rd`, "third", "twenty-first", "twenty first".
pub(super) fn ordinal(cursor: &mut Cursor<'_>) -> Result<Option<u64>> {
    let start = cursor.at();
    let number = match ordinal_word(cursor.peek_word()) {
        None => tens(cursor.peek_word()).and_then(|tens| {
            cursor.advance();
            let unit = UNIT_ORDINALS[..10].iter().position(|&word| word == cursor.peek_word())?;
            Some(tens + unit as u64)
        }),
        number => number,
    };
    match number {
        Some(number) => {
            cursor.advance();
            positive(cursor, start, Some(number)).map(Some)
        }
        None => {
            cursor.back(start);
            Ok(None)
        }
    }
}

/// Consumes a number counted from the newest: "second to last", "third-to-last", "penultimate", "third last".
pub(super) fn nth_to_last(cursor: &mut Cursor<'_>) -> Result<Option<u64>> {
    let start = cursor.at();
    if cursor.word("penultimate")
        || cursor.phrases(&["next to last", "last but one"])
        || cursor.word("next-to-last")
    {
        return Ok(Some(2));
    }
    let word = cursor.peek_word();
    let stem = ["-to-last", "-from-last", "-last"].into_iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(number) = stem.and_then(ordinal_word) {
        cursor.advance();
        return positive(cursor, start, Some(number)).map(Some);
    }
    if let Some(number) = ordinal(cursor)?
        && (cursor.phrases(&["to last", "from last", "from the end"])
            || number > 1 && cursor.any(&["last", "latest", "newest"]))
    {
        return Ok(Some(number));
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes one number, a range, or several: `3`, "3 to 7", `3-7`, "3, 5 and 7". `noun` consumes the noun,
/// which can be repeated before each further number.
///
/// # Errors
/// As for [`cardinal`], and a reversed range.
pub(super) fn span(cursor: &mut Cursor<'_>, noun: impl Fn(&mut Cursor<'_>)) -> Result<Option<Numbers>> {
    let Some(mut numbers) = range(cursor, &noun)? else { return Ok(None) };
    while let Some(next) = listed(cursor, &noun)? {
        numbers = numbers.and(&next);
    }
    Ok(Some(numbers))
}

/// Consumes one number or a range.
fn range(cursor: &mut Cursor<'_>, noun: &impl Fn(&mut Cursor<'_>)) -> Result<Option<Numbers>> {
    let start = cursor.at();
    if let Some((from, to)) = cursor.peek_word().split_once(['-', '–'])
        && let (Some(from), Some(to)) = (digits(from.trim_start_matches('#')), digits(to))
    {
        cursor.advance();
        return ordered(cursor, start, from, to).map(Some);
    }
    let Some(first) = cardinal(cursor)? else { return Ok(None) };
    let before = cursor.at();
    if cursor.phrases(&["up to and including", "through to", "through", "thru", "to"]) || dash(cursor) {
        noun(cursor);
        if let Some(last) = cardinal(cursor)? {
            return ordered(cursor, start, first, last).map(Some);
        }
        cursor.back(before);
    }
    ordered(cursor, start, first, first).map(Some)
}

/// The range read from `start` on.
///
/// # Errors
/// A range that begins at 0 or is reversed.
pub(super) fn ordered(cursor: &Cursor<'_>, start: usize, from: u64, to: u64) -> Result<Numbers> {
    Numbers::range(from, to).map_err(|why| cursor.refused(start, why))
}

/// The number read from `start` on, in 32 bits.
///
/// # Errors
/// A number that does not fit in 32 bits.
pub(super) fn narrow(cursor: &Cursor<'_>, start: usize, number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| cursor.refused(start, TOO_LARGE))
}

/// Consumes a dash between blanks.
pub(super) fn dash(cursor: &mut Cursor<'_>) -> bool {
    ['-', '–', '—'].into_iter().any(|mark| cursor.mark(mark))
}

/// Consumes the next numbers of a list.
fn listed(cursor: &mut Cursor<'_>, noun: &impl Fn(&mut Cursor<'_>)) -> Result<Option<Numbers>> {
    let start = cursor.at();
    let comma = cursor.mark(',');
    let and = cursor.any(&["and", "&"]);
    if comma || and {
        noun(cursor);
        if let Some(numbers) = range(cursor, noun)? {
            return Ok(Some(numbers));
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Refuses zero, and numbers too large to read.
fn positive(cursor: &Cursor<'_>, start: usize, number: Option<u64>) -> Result<u64> {
    match number {
        None => Err(cursor.refused(start, TOO_LARGE)),
        Some(0) => Err(cursor.refused(start, FROM_ONE)),
        Some(number) => Ok(number),
    }
}

/// Consumes a number below a thousand.
fn in_words(cursor: &mut Cursor<'_>) -> Option<u64> {
    let start = cursor.at();
    let below_ten = if cursor.word("a") { Some(1) } else { below_hundred(cursor) };
    if below_ten.is_none_or(|number| number < 10) && cursor.word("hundred") {
        let hundreds = below_ten.unwrap_or(1) * 100;
        let before = cursor.at();
        cursor.word("and");
        return match below_hundred(cursor) {
            Some(rest) => Some(hundreds + rest),
            None => {
                cursor.back(before);
                Some(hundreds)
            }
        };
    }
    if cursor.word_at(start) == "a" {
        cursor.back(start);
        return None;
    }
    below_ten
}

/// Consumes a number below a hundred, in one word or two.
fn below_hundred(cursor: &mut Cursor<'_>) -> Option<u64> {
    let word = cursor.peek_word();
    if let Some(number) = cardinal_word(word) {
        cursor.advance();
        return Some(number);
    }
    let tens = tens(word)?;
    cursor.advance();
    let unit = UNITS[1..10].iter().position(|&unit| unit == cursor.peek_word());
    match unit {
        Some(unit) => {
            cursor.advance();
            Some(tens + unit as u64 + 1)
        }
        None => Some(tens),
    }
}

/// "twenty" to "ninety".
fn tens(word: &str) -> Option<u64> {
    TENS.iter().position(|&tens| tens == word).map(|index| 20 + 10 * index as u64)
}

/// A number in one word: "seven", "twenty-one".
fn cardinal_word(word: &str) -> Option<u64> {
    let unit = |units: &[&str], word| units.iter().position(|&unit| unit == word).map(|number| number as u64);
    match word.split_once('-') {
        Some((front, back)) => Some(tens(front)? + unit(&UNITS[..10], back).filter(|&unit| unit > 0)?),
        None => unit(&UNITS, word),
    }
}

/// An ordinal in one word: `3rd`, "third", "twenty-first", "hundredth".
fn ordinal_word(word: &str) -> Option<u64> {
    let unit = |units: &[&str], word| units.iter().position(|&unit| unit == word).map(|number| number as u64);
    if let Some((front, back)) = word.split_once('-') {
        return Some(tens(front)? + unit(&UNIT_ORDINALS[..10], back).filter(|&unit| unit > 0)?);
    }
    if let Some(number) = unit(&UNIT_ORDINALS, word) {
        return Some(number);
    }
    if word == "hundredth" {
        return Some(100);
    }
    if let Some(stem) = word.strip_suffix("ieth") {
        return tens(&format!("{stem}y"));
    }
    let number: u64 = word.trim_end_matches(char::is_alphabetic).parse().ok()?;
    (word == format!("{number}{}", suffix(number))).then_some(number)
}

/// The suffix of an ordinal in digits.
fn suffix(number: u64) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// Parses a number in digits, if it fits in 64 bits.
pub(super) fn digits(text: &str) -> Option<u64> {
    is_digits(text).then(|| text.parse().ok())?
}

/// Whether a word consists only of digits, without a sign.
fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is a number or begins with one.
pub(super) fn is_numeric(word: &str) -> bool {
    let digits = word.trim_start_matches(['#', '-', '+']).starts_with(|c: char| c.is_ascii_digit());
    digits
        || cardinal_word(word).is_some()
        || tens(word).is_some()
        || matches!(word, "hundred" | "dozen" | "couple")
}
