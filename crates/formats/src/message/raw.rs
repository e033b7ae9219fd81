//! Keeps what is needed to write the bytes of a message again.
//!
//! Each utterance of a message keeps the pieces of the message's text that belong to it. If one message
//! became several utterances, these are the blocks that the utterance holds, so removing the utterance
//! removes their text. A piece is its number among the message's pieces, followed by its text, with long
//! texts that are in the utterance anyway cut out. A hash shows whether the content is still the same.

use std::collections::HashMap;

use serde_json::{Map, Value, value::RawValue};

use crate::{
    Format,
    extras::{self, Parts, SAYS},
    raw_object::raw_object,
    replace_surrogates,
};
use utterd_domain::Draft;

/// The key of the pieces.
const RAW: &str = "raw";
/// Shorter texts are not cut out.
const SHORTEST: usize = 24;

/// A piece of a message's text, with its number.
pub(super) type Piece<'m> = (usize, &'m str);

/// Keeps the `pieces` of a `format` message with the draft they belong to, in addition to what is already kept.
pub(super) fn keep(draft: &mut Draft, format: Format, pieces: &[Piece<'_>]) {
    let parts = Parts::from(&*draft);
    let (arguments, kept) = (arguments(&parts), parts.kept(format));
    let texts = Texts::of(said(&parts).chain(leaves(arguments.iter().chain(&kept))));
    let piece = |(number, text): &Piece<'_>| {
        std::iter::once(Value::from(*number)).chain(texts.cut(text)).collect::<Value>()
    };
    let pieces: Value = pieces.iter().map(piece).collect();
    let raw = Map::from_iter([(RAW.to_owned(), pieces), (SAYS.to_owned(), parts.says().into())]);
    extras::keep(draft, format, raw);
}

/// The pieces kept with an utterance; `None` if there are none, or it says something else by now.
pub(super) fn pieces(parts: &Parts<'_>, format: Format) -> Option<Vec<(usize, String)>> {
    let kept = raw_object(parts.kept_json(format)?.get())?;
    let says: &str = serde_json::from_str(kept.get(SAYS)?.get()).ok()?;
    if says != parts.says() {
        return None;
    }
    let pieces: Vec<Vec<&RawValue>> = serde_json::from_str(kept.get(RAW)?.get()).ok()?;
    // most repeat only what is said
    joined(&pieces, &Texts::of(said(parts))).or_else(|| {
        let mut own = parts.kept(format)?;
        own.as_object_mut()?.retain(|name, _| name != RAW && name != SAYS);
        let arguments = arguments(parts);
        joined(&pieces, &Texts::of(said(parts).chain(leaves(arguments.iter().chain([&own])))))
    })
}

/// Whether a message has, as it came, halves of surrogate pairs, which the text of an utterance cannot hold.
pub fn has_halves(parts: &Parts<'_>) -> bool {
    let is_changed = |text: &str| replace_surrogates(text) != text;
    let extras = parts.more.and_then(|more| more.extras_json.as_deref());
    // an escape within a piece is escaped itself
    let format = parts.origin().filter(|_| extras.is_some_and(|extras| extras.contains(r"\\u")));
    let pieces = format.and_then(|format| pieces(parts, format));
    pieces.is_some_and(|pieces| pieces.iter().any(|(_, text)| is_changed(text)))
}

/// The pieces as they are in the message, with their numbers.
fn joined(pieces: &[Vec<&RawValue>], texts: &Texts<'_>) -> Option<Vec<(usize, String)>> {
    let piece = |piece: &Vec<&RawValue>| {
        let (number, rest) = piece.split_first()?;
        Some((number.get().parse().ok()?, texts.join(rest)?))
    };
    pieces.iter().map(piece).collect()
}

/// What an utterance says: the first of the texts that its message might repeat.
fn said<'t>(parts: &Parts<'t>) -> impl Iterator<Item = &'t str> + use<'t> {
    std::iter::once(parts.content).chain(parts.calls().iter().map(|call| &*call.arguments_json))
}

/// The arguments of its calls: their texts come second, those of other kept values last.
fn arguments(parts: &Parts<'_>) -> Vec<Value> {
    parts.calls().iter().map(|call| serde_json::from_str(&call.arguments_json).unwrap_or_default()).collect()
}

/// The texts within JSON values.
fn leaves<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<&'v str> {
    let within = |value: &'v Value| match value {
        Value::String(text) => vec![&**text],
        Value::Array(values) => leaves(values),
        Value::Object(fields) => leaves(fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    values.into_iter().flat_map(within).collect()
}

/// The texts that a JSON text might repeat, in order.
struct Texts<'t>(Vec<&'t str>);

impl<'t> Texts<'t> {
    /// The texts that are long enough.
    fn of(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self(texts.into_iter().filter(|text| text.len() >= SHORTEST).collect())
    }

    /// Splits `json` into parts: literal text, and for each repeated text twice its number, plus one if it is
    /// written as ASCII.
    fn cut(&self, json: &str) -> Vec<Value> {
        let known = self.written();
        let (mut parts, mut from) = (Vec::new(), 0);
        for (start, end) in strings(json).filter(|(start, end)| end - start > SHORTEST) {
            let Some(number) = known.get(&json[start..end]) else { continue };
            if from < start {
                parts.push(json[from..start].into());
            }
            parts.push((*number).into());
            from = end;
        }
        if from < json.len() {
            parts.push(json[from..].into());
        }
        parts
    }

    /// Puts `parts` together again; `None` if one of them refers to a text that does not exist.
    fn join(&self, parts: &[&RawValue]) -> Option<String> {
        let mut json = String::new();
        for part in parts {
            match part.get().starts_with('"') {
                true => json.push_str(&serde_json::from_str::<String>(part.get()).ok()?),
                false => json.push_str(&self.repeated(part.get().parse().ok()?)?),
            }
        }
        Some(json)
    }

    /// The text with this number, as it was written.
    fn repeated(&self, number: usize) -> Option<String> {
        let plain = plain(self.0.get(number / 2)?);
        Some(if number.is_multiple_of(2) { plain } else { ascii(&plain) })
    }

    /// The number of each written form of a text.
    fn written(&self) -> HashMap<String, usize> {
        let styles = |(place, text): (usize, &&str)| {
            // for ASCII, both forms are the same
            let ascii = (!text.is_ascii()).then(|| (ascii(&plain(text)), 2 * place + 1));
            ascii.into_iter().chain([(plain(text), 2 * place)])
        };
        self.0.iter().enumerate().flat_map(styles).collect()
    }
}

/// A text as JSON, with no more escapes than necessary.
fn plain(text: &str) -> String {
    Value::from(text).to_string()
}

/// Escapes everything beyond ASCII in a JSON text, as Python's `json` does by default.
fn ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for letter in json.chars() {
        // like others, Python does not escape DEL
        match letter.is_ascii() {
            true => ascii.push(letter),
            false => {
                let mut units = [0; 2];
                letter.encode_utf16(&mut units).iter().for_each(|unit| ascii += &format!("\\u{unit:04x}"));
            }
        }
    }
    ascii
}

/// The ranges of the strings in a JSON text, with their quotes.
fn strings(json: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = json.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + memchr::memchr(b'"', bytes.get(from..)?)?;
        let mut end = start + 1;
        loop {
            end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes[end] == b'"' {
                break;
            }
            end += 2;
        }
        from = end + 1;
        Some((start, from))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use utterd_domain::{More, Role};

    #[test]
    fn what_is_kept_holds_while_it_says_the_same() {
        let content = "a text that is long enough to stand once";
        let mut draft = Draft::of(Role::User, content, More::default());
        let text = json!({"content": content, "role": "user"}).to_string();
        keep(&mut draft, Format::OpenAiChat, &[(0, &text)]);
        let extras = draft.more.as_ref().and_then(|more| more.extras_json.clone()).unwrap_or_default();
        assert!(!extras.contains("long enough"), "{extras}");
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), Some(vec![(0, text)]));
        assert_eq!(pieces(&Parts::from(&draft), Format::Anthropic), None);
        draft.content = "another".into();
        assert_eq!(pieces(&Parts::from(&draft), Format::OpenAiChat), None);
    }

    fn stored(parts: &[Value]) -> String {
        serde_json::to_string(parts).unwrap()
    }

    fn pieces_of(stored: &str) -> Vec<&RawValue> {
        serde_json::from_str(stored).unwrap()
    }

    #[test]
    fn a_text_that_is_repeated_is_not_kept_twice() {
        let text = "a \"long\" text \u{1F600}, which\nis said \u{e9}";
        let texts = Texts::of([text]);
        let (plain, python) = (Value::from(text).to_string(), ascii(&Value::from(text).to_string()));
        let json = format!("{{\"a\": {plain},\"b\":{python}, \"c\\\"\":\"\\ud83d\"}}");
        let parts = texts.cut(&json);
        let numbers: Vec<_> = parts.iter().filter_map(Value::as_u64).collect();
        assert_eq!(numbers, [0, 1]);
        let stored = stored(&parts);
        assert_eq!(texts.join(&pieces_of(&stored)), Some(json));
        assert_eq!(Texts::of([]).join(&pieces_of(&stored)), None);
    }

    proptest! {
        #[test]
        fn what_is_cut_is_joined(texts in prop::collection::vec("[a-c\"\\\\\u{e9}]{20,30}", 0..4), noise in "[\"\\\\{a:]{0,40}") {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let json: String = texts.iter().map(|text| Value::from(*text).to_string() + &noise).collect();
            let texts = Texts::of(texts);
            prop_assert_eq!(texts.join(&pieces_of(&stored(&texts.cut(&json)))), Some(json));
        }
    }
}
