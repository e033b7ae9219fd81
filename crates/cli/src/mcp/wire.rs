//! What clients send, as text.

use std::borrow::Cow;

use rmcp::model::RequestId;
use serde_json::Deserializer;

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

/// The id of a request that cannot be read as a whole: its sender waits for an answer to it.
pub fn id(text: &str) -> Option<RequestId> {
    let (mut depth, mut rest) = (0_usize, text);
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            '"' => length = quoted(rest),
            _ => {}
        }
        let (token, after) = rest.split_at(length);
        if depth == 1
            && token == "\"id\""
            && let Some(value) = after.trim_start().strip_prefix(':')
        {
            return Deserializer::from_str(value).into_iter().next()?.ok();
        }
        rest = after;
    }
    None
}

/// The length of the string at the beginning of a text, with its quotes.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_what_is_broken() {
        for (text, expected) in [
            (r#"{"id":7,"method":"x","params":{"a":"\x"}}"#, Some(RequestId::Number(7))),
            (
                r#"{"params":{"id":1,"a":NaN,"b":"\"id\":2"}, "id" : "a"}"#,
                Some(RequestId::String("a".into())),
            ),
            (r#"{"method":"x","params":{"id":1"#, None),
            (r#"[{"id":1,"a":}]"#, None),
            (r#"{"id":"#, None),
            ("é\"", None),
        ] {
            assert_eq!(id(text), expected, "{text}");
        }
    }

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
