//! What a caller sent, quoted in an error.

use std::fmt::{self, Write};

use crate::limits::MAX_QUOTED_BYTES;

/// Quotes and escapes `text` as its `Debug` form does. A long text is cut, and its length given: quotes also go into
/// headers, of which many clients accept 8 KiB.
pub fn quoted(text: &str) -> Quoted<'_> {
    Quoted(text)
}

/// The [`Display`](fmt::Display) form of [`quoted`].
pub struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0;
        let shown = shown(whole);
        if shown.len() == whole.len() {
            return write!(f, "{whole:?}");
        }
        f.write_char('"')?;
        shown.chars().try_for_each(|character| write!(f, "{}", character.escape_debug()))?;
        write!(f, "…\" ({} bytes)", whole.len())
    }
}

/// The longest beginning of `text` that fits once it is escaped. Characters are escaped one by one, as `Debug` does;
/// `str::escape_debug` leaves the combining ones as they are.
fn shown(text: &str) -> &str {
    let mut room = MAX_QUOTED_BYTES;
    for (start, character) in text.char_indices() {
        let bytes: usize = character.escape_debug().map(char::len_utf8).sum();
        let Some(left) = room.checked_sub(bytes) else { return &text[..start] };
        room = left;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_and_its_length_said() {
        assert_eq!(quoted("it's\n").to_string(), r#""it's\n""#);
        let told = quoted(&"漢".repeat(2_000)).to_string();
        assert_eq!(told, format!("\"{}…\" (6000 bytes)", "漢".repeat(MAX_QUOTED_BYTES / 3)));
        let marks = quoted(&"\u{301}".repeat(50)).to_string();
        assert_eq!(marks, format!("\"{}…\" (100 bytes)", r"\u{301}".repeat(MAX_QUOTED_BYTES / 7)));
    }

    proptest! {
        #[test]
        fn a_quote_is_short(text in any::<String>(), times in 1..200_usize) {
            let text = text.repeat(times);
            let told = quoted(&text).to_string();
            prop_assert!(told.len() <= MAX_QUOTED_BYTES + 40, "{}", told.len());
            let (whole, end) = (format!("{text:?}"), format!("…\" ({} bytes)", text.len()));
            prop_assert!(told == whole || told.ends_with(&end));
        }
    }
}
