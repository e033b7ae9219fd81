//! What clients send, as text.

use std::borrow::Cow;

use rmcp::model::RequestId;
use serde_json::Value;

use utterd_formats::replace_surrogates;

/// Marks a request in which something that is no text was replaced.
#[derive(Clone, Copy)]
pub struct Replaced;

/// What the caller of such a request is told.
pub const REPLACED: &str = "Some of the characters were not Unicode, such as halves of surrogate pairs: each was replaced by U+FFFD.";

/// Bytes as JSON text. What is not UTF-8 and halves of surrogate pairs, which programs write that cut texts anywhere,
/// become U+FFFD; also returns whether there were any.
pub fn text(bytes: &[u8]) -> (Cow<'_, str>, Option<Replaced>) {
    let text = String::from_utf8_lossy(bytes);
    let whole = replace_surrogates(&text).into_owned();
    let replaced = matches!(text, Cow::Owned(_)) || whole != *text;
    if replaced { (Cow::Owned(whole), Some(Replaced)) } else { (text, None) }
}

/// The id of a request that is no message, if it has one: its sender waits for an answer to it.
pub fn id(json: &Value) -> Option<RequestId> {
    serde_json::from_value(json["id"].clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_replaced() {
        let read = |bytes: &[u8]| {
            let (text, replaced) = text(bytes);
            (text.into_owned(), replaced.is_some())
        };
        assert_eq!(read(br#"["\ud83d\ude00"]"#), (r#"["\ud83d\ude00"]"#.to_owned(), false));
        assert_eq!(read(br#"["\ud83d"]"#), (r#"["\ufffd"]"#.to_owned(), true));
        assert_eq!(read(b"[\"\xff\"]"), ("[\"\u{fffd}\"]".to_owned(), true));
    }
}
