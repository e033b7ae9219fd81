//! Splits text into sentences.

mod ends;
mod lines;

pub(crate) use ends::abbreviates;

use crate::chars::is_closer;
use ends::sentence_end;
use lines::{Kind, Line, lines};

/// A sentence, a heading, a list item, a row of a table, or a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// A piece of the text, without the marks of lists, headings and quotations before it. A sentence that was wrapped
    /// has line breaks.
    pub text: &'a str,
    /// Where it starts, in bytes.
    pub start: usize,
    /// How it ends.
    pub ends: End,
    /// Whether it is code: a fenced block, or lines that look like code.
    pub code: bool,
    /// Whether it is of an item of a list.
    pub listed: bool,
}

/// How a sentence ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a question mark.
    Question,
    /// With a colon.
    Colon,
    /// With neither.
    Other,
}

/// A line at least this long, in characters, is assumed to be wrapped: the next line continues it.
const WRAPPED_CHARS: usize = 60;

/// The sentences of a text, in order.
///
/// - Headings, list items, rows of tables and short lines stand alone. The next line continues a long one.
/// - A fenced block is one piece of code, without its fences; so are neighbouring lines that look like code.
/// - Lines without a letter or digit (rules, fences, a lone `:(`) are left out.
pub fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Line> = None;
    let mut is_wrapped = false;
    for line in lines(text) {
        match &mut open {
            Some(block) if goes_on(block, &line, is_wrapped) => block.end = line.end,
            _ => close(text, open.replace(line), &mut found),
        }
        is_wrapped = text[line.start..line.end].chars().nth(WRAPPED_CHARS - 1).is_some();
    }
    close(text, open, &mut found);
    found
}

/// Whether a line belongs to the lines before it.
fn goes_on(block: &Line, line: &Line, is_wrapped: bool) -> bool {
    match (block.kind, line.kind) {
        (Kind::Code(fence), Kind::Code(own)) => fence == own,
        (Kind::Prose | Kind::Item, Kind::Prose) => is_wrapped && line.quoted == block.quoted,
        _ => false,
    }
}

/// Adds the sentences of lines that belong together.
fn close<'a>(text: &'a str, block: Option<Line>, found: &mut Vec<Sentence<'a>>) {
    let Some(block) = block.filter(|block| block.kind != Kind::Blank) else { return };
    if let Kind::Code(_) = block.kind {
        return found.extend(piece(text, block.start, block.end, &block));
    }
    let mut start = block.start;
    while start < block.end {
        let length = sentence_end(&text[start..block.end]);
        found.extend(piece(text, start, start + length, &block));
        start += length;
    }
}

/// What stands between two places, unless it says nothing.
fn piece<'a>(text: &'a str, start: usize, end: usize, line: &Line) -> Option<Sentence<'a>> {
    let said = text[start..end].trim_end();
    let start = start + (said.len() - said.trim_start().len());
    let said = said.trim_start();
    let (code, listed) = (matches!(line.kind, Kind::Code(_)), line.kind == Kind::Item);
    says(said).then(|| Sentence { text: said, start, ends: end_of(said), code, listed })
}

/// Whether a piece has anything but punctuation: letters, digits, an emoji.
fn says(said: &str) -> bool {
    said.chars().any(|c| c.is_alphanumeric() || c >= '\u{2600}' && !is_closer(c) && !is_wide_mark(c))
}

fn is_wide_mark(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303F}' | '\u{FE00}'..='\u{FE6F}' | '\u{FF00}'..='\u{FF0F}' | '：' | '；' | '？')
}

fn end_of(said: &str) -> End {
    match said.trim_end_matches(is_closer).chars().next_back() {
        Some('?' | '？' | '؟') => End::Question,
        Some(':' | '：') => End::Colon,
        _ => End::Other,
    }
}

#[cfg(test)]
mod tests;
