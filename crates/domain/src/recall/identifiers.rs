//! Identifiers, as a whole (regardless of their punctuation) and in parts.

use xxhash_rust::xxh3::xxh3_64;

/// The longest term, in bytes of UTF-8: enough for a SHA-256 in hexadecimal.
pub(super) const MAX_TERM_BYTES: usize = 64;

/// The search form of a whole identifier: its letters and digits in lower case without punctuation, so that
/// `HAT-136`, `hat_136` and `HAT136` are equal, and `1,249.50` and `1249.50` are too. What changes a meaning stays: a
/// point before a name, signs behind it, and marks that are not just groups between digits, such as the colon of a time.
/// Of a long one, the rest is told by a hash.
pub(super) fn whole(word: &str, into: &mut String) {
    into.clear();
    let number = as_number(word);
    let word = number.as_deref().unwrap_or(word);
    let word = version(word).unwrap_or(word);
    let mut before = ' ';
    for (at, c) in word.char_indices() {
        let after = || word[at + c.len_utf8()..].chars().next();
        let stays = match c {
            '.' if into.is_empty() => true,
            '+' | '#' => after().is_none_or(|after| after == '+'),
            ':' if word.contains(char::is_alphabetic) => false,
            '.' | '/' | ':' => before.is_numeric() && after().is_some_and(char::is_numeric),
            _ => false,
        };
        if stays {
            into.push(c);
        } else if c.is_ascii_alphanumeric() {
            into.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            into.extend(c.to_lowercase());
        }
        before = c;
    }
    if into.len() > MAX_TERM_BYTES {
        let hash = xxh3_64(into.as_bytes());
        into.truncate(into.floor_char_boundary(MAX_TERM_BYTES - 16));
        into.push_str(&format!("{hash:016x}"));
    }
}

/// `1.20.3` for `v1.20.3`.
fn version(word: &str) -> Option<&str> {
    word.strip_prefix(['v', 'V']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A number without thousands separators and with a decimal point: `1,249.50` and `1.249,50` become
/// `1249.50`. A single `1.249` stays, because it might be a version.
fn as_number(word: &str) -> Option<String> {
    word.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let english = thousands(word, ',', '.');
    english
        .or_else(|| thousands(word, '.', ',').filter(|_| word.contains(',') || word.matches('.').count() > 1))
}

fn thousands(word: &str, between: char, point: char) -> Option<String> {
    let (groups, fraction) = word.split_once(point).map_or((word, None), |(whole, rest)| (whole, Some(rest)));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = groups.split(between);
    let first = parts.next().filter(|first| all_digits(first) && first.len() <= 3)?;
    let mut number = first.to_owned();
    for part in parts {
        (part.len() == 3 && all_digits(part)).then_some(())?;
        number.push_str(part);
    }
    (number.len() > first.len()).then_some(())?;
    if let Some(fraction) = fraction {
        all_digits(fraction).then_some(())?;
        number.push('.');
        number.push_str(fraction);
    }
    Some(number)
}

/// Calls `found` with the other search forms of an identifier whose `whole` is known: its parts, split at
/// punctuation, changes of case, and between letters and digits; a version without its last number.
pub(super) fn each_part(word: &str, whole: &str, mut found: impl FnMut(&str)) {
    if whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return number_parts(whole, &mut found);
    }
    let mut parts = Parts(word);
    if let (Some(first), Some(second)) = (parts.next(), parts.next()) {
        [first, second].into_iter().chain(parts).filter(|part| part.len() > 1).for_each(found);
    }
}

/// `1249` of `1249.50`, and `1.20` of `1.20.3`.
fn number_parts(whole: &str, found: &mut impl FnMut(&str)) {
    let numbers = whole.split('.');
    match numbers.count() {
        1 => {}
        2 => whole.split('.').take(1).filter(|part| part.len() > 1).for_each(found),
        _ => whole.rsplit_once('.').into_iter().for_each(|(but_last, _)| found(but_last)),
    }
}

/// The parts of the rest of a word.
struct Parts<'a>(&'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut chars = rest.chars();
        let mut before = chars.next()?;
        let mut end = before.len_utf8();
        while let Some(c) = chars.next() {
            if !c.is_alphanumeric() || starts_part(before, c, || chars.clone().next()) {
                break;
            }
            before = c;
            end += c.len_utf8();
        }
        let (part, rest) = rest.split_at(end);
        self.0 = rest;
        Some(part)
    }
}

/// Whether a part starts at `c`: `getUser` splits at its `U`, `HTTPServer` at its `S`, `HAT136` at its `1`.
fn starts_part(before: char, c: char, after: impl Fn() -> Option<char>) -> bool {
    let opens_word = || after().is_some_and(char::is_lowercase);
    before.is_numeric() != c.is_numeric()
        || (c.is_uppercase() && (before.is_lowercase() || (before.is_alphabetic() && opens_word())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_parts_at_marks_capitals_and_digits() {
        let parts = |word| Parts(word).collect::<Vec<_>>();
        assert_eq!(parts("create_order"), ["create", "order"]);
        assert_eq!(parts("__getHTTPServerV2.rs"), ["get", "HTTP", "Server", "V", "2", "rs"]);
        assert_eq!(parts("HAT-136"), ["HAT", "136"]);
        assert_eq!(parts("grüßeÄndern"), ["grüße", "Ändern"]);
        assert_eq!(parts("order"), ["order"]);
        assert_eq!(parts("_-"), [""; 0]);
    }
}
