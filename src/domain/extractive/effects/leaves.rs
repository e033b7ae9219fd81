//! The values in JSON at any depth, undecoded.

use std::borrow::Cow;

use memchr::memchr2;

/// Text, a number or a boolean, with its key.
#[derive(Clone, Copy, Debug)]
pub(in crate::domain::extractive) struct Leaf<'a> {
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
    pub(in crate::domain::extractive) fn value(&self) -> Cow<'a, str> {
        if !self.is_text || memchr::memchr(b'\\', self.raw.as_bytes()).is_none() {
            return Cow::Borrowed(self.raw);
        }
        let quoted = format!("\"{}\"", self.raw);
        serde_json::from_str(&quoted).map_or(Cow::Borrowed(self.raw), Cow::Owned)
    }
}

/// The leaves of `json`, in order. Invalid JSON yields one leaf or a few.
pub(in crate::domain::extractive) fn leaves(json: &str) -> impl Iterator<Item = Leaf<'_>> {
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

    fn bare(&mut self) -> &'a str {
        let end = self.rest.find([',', '}', ']', '"']).unwrap_or(self.rest.len());
        let (bare, rest) = self.rest.split_at(end);
        self.rest = rest;
        bare.trim_end()
    }
}
