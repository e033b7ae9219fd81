//! Stdout and stderr: a terminal gets only text that it draws, anything else gets the exact bytes.
//!
//! What people say can hold sequences that a terminal obeys: they move the cursor, fill the clipboard, or turn text
//! around. They are escaped as in JSON, so that JSON stays JSON: `\u001b`.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, IsTerminal, Stderr, Stdout, Write},
};

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Stdout of this process.
pub fn stdout() -> Escaping<Stdout> {
    Escaping::new(io::stdout())
}

/// Stderr of this process.
pub fn stderr() -> Escaping<Stderr> {
    Escaping::new(io::stderr())
}

/// A stream of this process, with what a terminal must not get escaped if it is one.
pub struct Escaping<W> {
    stream: W,
    is_terminal: bool,
    /// The first bytes of a character whose others are not written yet.
    begun: Vec<u8>,
}

impl<W: Write + IsTerminal> Escaping<W> {
    fn new(stream: W) -> Self {
        let is_terminal = stream.is_terminal();
        Self { stream, is_terminal, begun: Vec::new() }
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.stream.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let end = match str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let whole: Vec<u8> = self.begun.drain(..end).collect();
        self.stream.write_all(escaped(&String::from_utf8_lossy(&whole)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The text as a terminal gets it.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_drawn) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match is_drawn(character) {
            true => escaped.push(character),
            false => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                // writing to a string does not fail
                let _ = write!(escaped, "\\u{unit:04x}");
            }),
        }
    }
    escaped.into()
}

/// Whether a terminal only draws the character. The joiners are part of words in some scripts, and of emoji.
fn is_drawn(character: char) -> bool {
    match character.general_category() {
        GeneralCategory::Control => matches!(character, '\n' | '\t'),
        GeneralCategory::Format => matches!(character, '\u{200c}' | '\u{200d}'),
        GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => false,
        _ => true,
    }
}

/// A number with thousands separators.
pub fn count(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(0).to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// `1 token`, `2 tokens`, `3 summaries`.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(0);
    match noun.strip_suffix("ry") {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{} {stem}ries", count(number)),
        None => format!("{} {noun}s", count(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(counted(1, "token"), "1 token");
        assert_eq!(counted(12_345, "token"), "12,345 tokens");
        assert_eq!([counted(0, "summary"), counted(2, "key")], ["0 summaries", "2 keys"]);
        assert_eq!(count(1_234_567), "1,234,567");
    }

    fn written(parts: &[&[u8]], is_terminal: bool) -> Vec<u8> {
        let mut out = Escaping { stream: Vec::new(), is_terminal, begun: Vec::new() };
        parts.iter().for_each(|part| out.write_all(part).unwrap());
        out.stream
    }

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        for (text, expected) in [
            ("a\u{1b}[2Jb\u{7}", "a\\u001b[2Jb\\u0007"),
            ("\u{1b}]52;c;cm0=\u{1b}\\", "\\u001b]52;c;cm0=\\u001b\\"),
            ("\u{9b}31m\u{7f}", "\\u009b31m\\u007f"),
            ("one\r\ntwo\rthree\u{8}", "one\ntwo\\u000dthree\\u0008"),
            ("\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}", "\\u202e\\u2066\\u200f\\u2028\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        assert_eq!(written(&[b"a\x9bb"], true), "a\u{fffd}b".as_bytes());
    }

    #[test]
    fn what_is_only_drawn_stays() {
        for text in ["two\n\tlines", "e\u{301} 👩\u{200d}🚀 ❤\u{fe0f}", "می\u{200c}خواهم", "\u{fffd}"]
        {
            assert_eq!(escaped(text), text);
        }
    }

    #[test]
    fn a_character_in_two_parts_stays_whole() {
        assert_eq!(
            written(&["ä".as_bytes().split_at(1).0, "ä".as_bytes().split_at(1).1], true),
            "ä".as_bytes()
        );
    }

    #[test]
    fn a_pipe_gets_the_exact_bytes() {
        assert_eq!(written(&[b"\x1b[2J\x9b\r\n"], false), b"\x1b[2J\x9b\r\n");
    }
}
