//! The values in JSON at any depth, undecoded: one after the other, or as a tree.

use std::borrow::Cow;

use memchr::memchr2;
use serde::de::IgnoredAny;

/// Text, a number or a boolean, with its key.
#[derive(Clone, Copy, Debug)]
pub(in crate::extractive) struct Leaf<'a> {
    pub key: &'a str,
    /// 1 for a member of the outermost object.
    pub depth: usize,
    /// Whether the value is text, or outside any object.
    pub is_text: bool,
    /// The undecoded value; for text, what is between the quotes.
    pub raw: &'a str,
}

impl<'a> Leaf<'a> {
    /// The value with its escapes resolved.
    pub(in crate::extractive) fn value(&self) -> Cow<'a, str> {
        if !self.is_text || memchr::memchr(b'\\', self.raw.as_bytes()).is_none() {
            return Cow::Borrowed(self.raw);
        }
        let quoted = format!("\"{}\"", self.raw);
        serde_json::from_str(&quoted).map_or(Cow::Borrowed(self.raw), Cow::Owned)
    }
}

/// A value in JSON.
#[derive(Debug)]
pub(in crate::extractive) enum Node<'a> {
    Object(Vec<(&'a str, Self)>),
    Array(Vec<Self>),
    Text(Cow<'a, str>),
    Number(&'a str),
    /// A boolean or null.
    Other,
}

impl<'a> Node<'a> {
    /// Reads `json`; `None` if it is invalid.
    pub(in crate::extractive) fn of(json: &'a str) -> Option<Self> {
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        Some(Leaves { rest: json, key: "", depth: 0 }.node())
    }

    /// The members, if it is an object.
    pub(in crate::extractive) fn members(&self) -> Option<&[(&'a str, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The text or the number, if it is one.
    pub(in crate::extractive) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => self.text(),
        }
    }

    /// The text, if it is one.
    pub(in crate::extractive) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The leaves of `json`, in order. Invalid JSON yields one leaf or a few.
pub(in crate::extractive) fn leaves(json: &str) -> impl Iterator<Item = Leaf<'_>> {
    Leaves { rest: json, key: "", depth: 0 }
}

struct Leaves<'a> {
    rest: &'a str,
    key: &'a str,
    depth: usize,
}

impl<'a> Iterator for Leaves<'a> {
    type Item = Leaf<'a>;

    fn next(&mut self) -> Option<Leaf<'a>> {
        loop {
            self.open();
            let is_text = self.rest.starts_with('"');
            let raw = if is_text { self.text() } else { self.bare() };
            let behind = self.rest.trim_start();
            match behind.strip_prefix(':') {
                Some(value) if is_text && self.depth > 0 => (self.key, self.rest) = (raw, value),
                _ if is_text || !raw.is_empty() => {
                    let is_text = is_text || self.depth == 0;
                    return Some(Leaf { key: self.key, depth: self.depth, is_text, raw });
                }
                _ => return None,
            }
        }
    }
}

impl<'a> Leaves<'a> {
    /// Moves to the next value, counting the braces passed.
    fn open(&mut self) {
        let at = self.rest.find(|c: char| !c.is_whitespace() && !"{}[],:".contains(c));
        let (passed, rest) = self.rest.split_at(at.unwrap_or(self.rest.len()));
        for byte in passed.bytes() {
            match byte {
                b'{' => self.depth += 1,
                b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.rest = rest;
    }

    /// The text between the quotes, or up to the end if there is no closing quote.
    fn text(&mut self) -> &'a str {
        let text = &self.rest[1..];
        let mut at = 0;
        while let Some(mark) = memchr2(b'"', b'\\', text.get(at..).unwrap_or_default().as_bytes()) {
            at += mark;
            if text.as_bytes()[at] == b'"' {
                self.rest = &text[at + 1..];
                return &text[..at];
            }
            at += 2;
        }
        self.rest = "";
        text
    }

    /// The next value of valid JSON, of which serde_json limits the depth.
    fn node(&mut self) -> Node<'a> {
        match self.next_mark() {
            Some(b'{') => {
                let mut members = Vec::new();
                while self.goes_on() {
                    let key = self.text();
                    members.push((key, self.node()));
                }
                Node::Object(members)
            }
            Some(b'[') => {
                let mut values = Vec::new();
                while self.goes_on() {
                    values.push(self.node());
                }
                Node::Array(values)
            }
            _ if self.rest.starts_with('"') => {
                let leaf = Leaf { key: "", depth: 0, is_text: true, raw: self.text() };
                Node::Text(leaf.value())
            }
            _ => match self.bare() {
                "null" | "true" | "false" | "" => Node::Other,
                number => Node::Number(number),
            },
        }
    }

    /// Passes blanks, and the colon before a value; of an object or a list, also the mark that opens it, which it returns.
    fn next_mark(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_whitespace());
        let mark = self.rest.bytes().next().filter(|mark| matches!(mark, b'{' | b'['));
        self.rest = &self.rest[usize::from(mark.is_some())..];
        mark
    }

    /// Whether another member follows in an object or a list; passes its end otherwise.
    fn goes_on(&mut self) -> bool {
        self.rest = self.rest.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        let ends = self.rest.is_empty() || self.rest.starts_with(['}', ']']);
        self.rest = &self.rest[usize::from(ends).min(self.rest.len())..];
        !ends
    }

    fn bare(&mut self) -> &'a str {
        let end = self.rest.find([',', '}', ']', '"']).unwrap_or(self.rest.len());
        let (bare, rest) = self.rest.split_at(end);
        self.rest = rest;
        bare.trim_end()
    }
}
