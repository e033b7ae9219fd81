//! Cuts texts that a JSON text repeats out of it, and puts them back.

use std::collections::HashMap;

use serde_json::{Value, value::RawValue};

/// Shorter texts are not cut out.
const SHORTEST: usize = 24;

/// The texts that a JSON text might repeat, in order.
pub(super) struct Texts<'t>(Vec<&'t str>);

/// How a text is written as JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// With no more escapes than necessary.
    Plain,
    /// As ASCII, as Python's `json` writes it by default.
    Ascii,
}

impl<'t> Texts<'t> {
    /// The texts that are long enough.
    pub(super) fn of(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self(texts.into_iter().filter(|text| text.len() >= SHORTEST).collect())
    }

    /// Splits `json` into parts: literal text, and for each repeated text twice its number, plus one if it is
    /// written as ASCII.
    pub(super) fn cut(&self, json: &str) -> Vec<Value> {
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
    pub(super) fn join(&self, parts: &[&RawValue]) -> Option<String> {
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
        let style = if number.is_multiple_of(2) { Style::Plain } else { Style::Ascii };
        Some(style.write(self.0.get(number / 2)?))
    }

    /// The number of each written form of a text.
    fn written(&self) -> HashMap<String, usize> {
        let styles = |(place, text): (usize, &&str)| {
            // for ASCII, both forms are the same
            let ascii = (!text.is_ascii()).then(|| (Style::Ascii.write(text), 2 * place + 1));
            ascii.into_iter().chain([(Style::Plain.write(text), 2 * place)])
        };
        self.0.iter().enumerate().flat_map(styles).collect()
    }
}

impl Style {
    fn write(self, text: &str) -> String {
        let plain = Value::from(text).to_string();
        match self {
            Self::Plain => plain,
            Self::Ascii => ascii(&plain),
        }
    }
}

/// Escapes everything beyond ASCII in a JSON text.
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

    use super::*;

    fn stored(parts: &[Value]) -> String {
        serde_json::to_string(parts).unwrap()
    }

    fn read(stored: &str) -> Vec<&RawValue> {
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
        assert_eq!(texts.join(&read(&stored)), Some(json));
        assert_eq!(Texts::of([]).join(&read(&stored)), None);
    }

    proptest! {
        #[test]
        fn what_is_cut_is_joined(texts in prop::collection::vec("[a-c\"\\\\\u{e9}]{20,30}", 0..4), noise in "[\"\\\\{a:]{0,40}") {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let json: String = texts.iter().map(|text| Value::from(*text).to_string() + &noise).collect();
            let texts = Texts::of(texts);
            prop_assert_eq!(texts.join(&read(&stored(&texts.cut(&json)))), Some(json));
        }
    }
}
