//! A call's arguments as a person would write them: values without quotes and braces.

use crate::extractive::text::clip::fold;

/// The limit for one value, in bytes.
const VALUE_BYTES: usize = 100;
/// The limit for a value of several lines (text or code that the call carries), in bytes.
const TEXT_BYTES: usize = 30;
/// How much of a value is read, in bytes.
const READ_BYTES: usize = 256;
/// The limit for all values together, in bytes.
const ALL_BYTES: usize = 160;

/// Appends `key` and the other values in `json`, one after another: text bare, numbers and booleans with
/// their key. Each value appears once.
///
/// Anything that is not JSON is appended as it is. Long values are cut to their beginning.
pub(in crate::extractive) fn tell(json: &str, key: &str, out: &mut String) {
    let start = out.len();
    out.push_str(key);
    let mut values = Values { rest: json, key: String::new() };
    let mut told: Vec<(Option<String>, String)> = Vec::new();
    while let Some((name, value)) = values.next() {
        let value = command(value.trim());
        let is_key = !key.is_empty() && (value == key || value.contains(key) && name.is_none());
        let text = !key.is_empty() && value.contains('\n');
        if is_key || text || told.iter().any(|(known, said)| *known == name && said == value) {
            continue;
        }
        if out.len() - start > ALL_BYTES.max(key.len()) {
            out.push_str(", …");
            return;
        }
        if out.len() > start {
            out.push_str(", ");
        }
        write(name.as_deref(), value, out);
        told.push((name, value.to_owned()));
    }
}

fn write(name: Option<&str>, value: &str, out: &mut String) {
    if let Some(name) = name {
        fold(name, VALUE_BYTES, out);
        out.push('=');
    }
    let limit = if value.contains('\n') { TEXT_BYTES } else { VALUE_BYTES };
    let first = value.lines().next().unwrap_or_default();
    fold(first, limit, out);
    if first.len() < value.len() && !out.ends_with('…') {
        out.push('…');
    }
}

/// A shell command without a leading `cd`.
fn command(value: &str) -> &str {
    let rest = value.strip_prefix("cd ").and_then(|rest| rest.split_once(" && "));
    rest.filter(|(folder, _)| !folder.contains(char::is_whitespace)).map_or(value, |(_, command)| command)
}

/// The values in JSON at any depth, in order, each with its key unless it is text.
struct Values<'a> {
    rest: &'a str,
    key: String,
}

impl Values<'_> {
    fn next(&mut self) -> Option<(Option<String>, String)> {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || "{}[],:".contains(c));
            if let Some(text) = self.rest.strip_prefix('"') {
                let (text, rest) = unquoted(text);
                self.rest = rest.trim_start();
                if !self.rest.starts_with(':') {
                    if text.is_empty() {
                        continue;
                    }
                    return Some((None, text));
                }
                self.key = text;
                continue;
            }
            let end = self.rest.find([',', '}', ']', '"']).unwrap_or(self.rest.len());
            let (value, rest) = self.rest.split_at(end);
            self.rest = rest;
            match value.trim() {
                "" if rest.is_empty() => return None,
                "" | "null" => {}
                value => {
                    let key = (!self.key.is_empty()).then(|| self.key.clone());
                    return Some((key, value.to_owned()));
                }
            }
        }
    }
}

/// The text up to its closing quote (only the beginning if it is long), and what follows.
fn unquoted(json: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = json.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, &json[at + 1..]),
            _ if text.len() > READ_BYTES => return (text, behind_quote(&json[at..])),
            '\\' => match chars.next() {
                Some((_, 'n' | 'r')) => text.push('\n'),
                Some((_, 't')) => text.push(' '),
                Some((at, 'u')) => {
                    let code =
                        json.get(at + 1..at + 5).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                    if code.is_some() {
                        chars.nth(3);
                    }
                    text.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                }
                Some((_, c)) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, "")
}

/// What follows the closing quote of a text.
fn behind_quote(json: &str) -> &str {
    let mut bytes = json.bytes().zip(1..);
    while let Some((byte, behind)) = bytes.next() {
        match byte {
            b'"' => return &json[behind..],
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> String {
        let mut out = String::new();
        tell(json, "", &mut out);
        out
    }

    #[test]
    fn text_is_bare_and_numbers_have_their_key() {
        let json = r#"{"id":"AB-77","bags":[{"kind":"big","count":3}],"free":false,"note":null,"empty":""}"#;
        assert_eq!(told(json), "AB-77, big, count=3, free=false");
        assert_eq!(told("{}"), "");
    }

    #[test]
    fn escapes_are_read_and_of_several_lines_the_first_is_told() {
        assert_eq!(told(r#"{"a":"say \"hi\" \u00e9"}"#), "say \"hi\" é");
        assert_eq!(told(r#"{"path":"a.rs","new":"fn main() {\n    run();\n}"}"#), "a.rs, fn main() {…");
    }

    #[test]
    fn a_command_is_told_without_the_change_of_directory() {
        assert_eq!(told(r#"{"command":"cd /home/ann && cargo test"}"#), "cargo test");
    }

    #[test]
    fn what_is_no_json_is_told_as_it_is_and_nothing_is_endless() {
        assert_eq!(told("order 7"), "order 7");
        assert_eq!(told("\"half"), "half");
        assert!(told(&"[".repeat(500)).is_empty());
        let many = format!("[{}]", (0..100).map(|n| format!("\"word {n}\"")).collect::<Vec<_>>().join(","));
        assert!(told(&many).ends_with(", …") && told(&many).len() < ALL_BYTES + VALUE_BYTES);
    }
}
