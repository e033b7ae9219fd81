//! What clients send, as text.

use std::borrow::Cow;

use utterd_formats::replace_surrogates;

/// Bytes as JSON text. What is not UTF-8 and halves of surrogate pairs, which programs write that cut texts anywhere,
/// become U+FFFD, with a warning in the log.
pub fn text(bytes: &[u8]) -> Cow<'_, [u8]> {
    let decoded = String::from_utf8_lossy(bytes);
    let replaced = match (replace_surrogates(&decoded), &decoded) {
        (Cow::Borrowed(_), Cow::Borrowed(_)) => return Cow::Borrowed(bytes),
        (text, _) => text.into_owned(),
    };
    tracing::warn!("a message was not all text: U+FFFD replaces the rest");
    Cow::Owned(replaced.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_replaced() {
        let read = |bytes: &[u8]| String::from_utf8(text(bytes).into_owned()).unwrap();
        assert_eq!(read(br#"["\ud83d\ude00"]"#), r#"["\ud83d\ude00"]"#);
        assert_eq!(read(br#"["\ud83d"]"#), r#"["\ufffd"]"#);
        assert_eq!(read(b"[\"\xff\"]"), "[\"\u{fffd}\"]");
        assert_eq!(read(b"[\"\xf0\x9f\x98\"]"), "[\"\u{fffd}\"]");
    }
}
