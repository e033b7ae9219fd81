//! JSON text from programs that cut strings anywhere.

use std::borrow::Cow;

/// Replaces escaped lone surrogates with U+FFFD: programs that cut text between the halves of a pair write
/// them, and the parser would refuse the whole file.
pub fn replace_surrogates(text: &str) -> Cow<'_, str> {
    // most have no escapes at all
    if !text.contains('\\') || !text.contains(r"\ud") && !text.contains(r"\uD") {
        return Cow::Borrowed(text);
    }
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        replaced.push_str(&rest[..at]);
        let (escape, length) = escape(&rest[at..]);
        replaced.push_str(escape);
        rest = &rest[at + length..];
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// The replacement for the escape, or pair of escapes, that `text` starts with, and its length.
fn escape(text: &str) -> (&str, usize) {
    let unit = |text: &str| {
        let digits = text.strip_prefix(r"\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let low = |unit: u16| (0xdc00..0xe000).contains(&unit);
    match unit(text) {
        Some(0xd800..0xdc00) if unit(&text[6..]).is_some_and(low) => (&text[..12], 12),
        Some(0xd800..0xe000) => (r"\ufffd", 6),
        // Skips the character behind a backslash: it might be a backslash too.
        _ => {
            let length = 1 + text.chars().nth(1).map_or(0, char::len_utf8);
            (&text[..length], length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced() {
        let replaced = |text| replace_surrogates(text).into_owned();
        assert_eq!(replaced(r#""\ud83d x""#), r#""\ufffd x""#);
        assert_eq!(replaced(r#""\ud83d\ude00\ude00""#), r#""\ud83d\ude00\ufffd""#);
        assert_eq!(replaced(r#""\\ud83d \uD83D""#), r#""\\ud83d \ufffd""#);
        assert_eq!(replaced(r"\ud8"), r"\ud8");
    }
}
