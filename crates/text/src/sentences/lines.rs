//! Reads the lines of a text: what each one is by its marks and its neighbours.

use super::shape::Shape;

/// A line without its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it starts, in bytes, behind its marks.
    pub start: usize,
    /// Where it starts with its marks, which belong to code.
    whole: usize,
    /// Where it ends, without blanks.
    pub end: usize,
    pub kind: Kind,
    pub quoted: bool,
    /// The number of the fenced block that it is in.
    pub fence: Option<usize>,
    /// How it looks, if it is outside of a fence.
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    Prose,
    /// A heading.
    Alone,
    /// Of a list.
    Item,
    /// Of a table.
    Row,
    Code,
}

/// The lines of a text. Fences are blank.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let (mut lines, mut at, mut fence) = (Vec::new(), 0, Fences::default());
    for line in text.split('\n') {
        lines.push(fence.line(at, line).unwrap_or_else(|| unfenced(at, line)));
        at += line.len() + 1;
    }
    mark_code(&mut lines);
    lines
}

/// The fenced blocks so far.
#[derive(Default)]
struct Fences<'a> {
    open: Option<&'a str>,
    count: usize,
}

impl<'a> Fences<'a> {
    /// A line that is a fence or in a fenced block.
    fn line(&mut self, at: usize, line: &'a str) -> Option<Line> {
        let said = line.trim();
        let mark = fence_of(said.trim_start_matches(['>', ' ']));
        let closes =
            self.open.zip(mark).is_some_and(|(open, mark)| mark.starts_with(open) && said.ends_with(mark));
        let end = at + line.trim_end().len();
        let blank = Line {
            start: at,
            whole: at,
            end,
            kind: Kind::Blank,
            quoted: false,
            fence: None,
            shape: Shape::default(),
        };
        match (self.open, mark) {
            (Some(_), _) if closes => self.open = None,
            (Some(_), _) => return Some(Line { kind: Kind::Code, fence: Some(self.count), ..blank }),
            (None, Some(mark)) => (self.open, self.count) = (Some(mark), self.count + 1),
            (None, None) => return None,
        }
        Some(blank)
    }
}

/// The mark of a fence; none of code between backticks on one line.
fn fence_of(said: &str) -> Option<&str> {
    let mark = &said[..said.len() - said.trim_start_matches(['`', '~']).len()];
    let is_fence = mark.len() >= 3 && !said[mark.len()..].contains('`');
    is_fence.then_some(mark)
}

fn unfenced(at: usize, line: &str) -> Line {
    let mut said = line.trim();
    let quoted = said.starts_with('>') && !said.starts_with(">>> ");
    if quoted {
        said = said.trim_start_matches(['>', ' ']);
    }
    let shape = Shape::of(said, line.len() - line.trim_start().len());
    let end = at + line.trim_end().len();
    let (kind, bare) = mark_of(said);
    // What was left out stands before it, except for blanks.
    let start = |said: &str| end - said.len();
    Line { start: start(bare), whole: start(said), end, kind, quoted, fence: None, shape }
}

/// What a line is by the mark that it starts with, and the line without it.
fn mark_of(said: &str) -> (Kind, &str) {
    let heading = said.trim_start_matches('#');
    match () {
        () if said.is_empty() => (Kind::Blank, said),
        () if heading.len() < said.len() && heading.starts_with(' ') => (Kind::Alone, heading.trim()),
        () if is_row(said) => (Kind::Row, said),
        () => without_bullet(said).map_or((Kind::Prose, said), |item| (Kind::Item, item)),
    }
}

fn is_row(said: &str) -> bool {
    said.starts_with('|') && said.len() > 1 && said.ends_with('|') && !said.starts_with("||")
}

/// An item without its bullet, number or box.
fn without_bullet(said: &str) -> Option<&str> {
    let bullet =
        ["- ", "* ", "+ ", "• ", "– ", "— ", "· "].iter().find_map(|bullet| said.strip_prefix(bullet));
    let item = bullet.or_else(|| without_number(said))?.trim_start();
    let boxed = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| item.strip_prefix(mark));
    Some(boxed.unwrap_or(item))
}

/// An item without its number: `1. `, `2) `, `(3) `, `a) `.
fn without_number(said: &str) -> Option<&str> {
    let opened = said.strip_prefix('(').unwrap_or(said);
    let digits = opened.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let is_letter = digits == 0 && opened.starts_with(|c: char| c.is_ascii_lowercase());
    let behind = opened.get(if is_letter { 1 } else { digits }..)?;
    let dotted = if digits > 0 { behind.strip_prefix(". ") } else { None };
    let closed = || if digits > 0 || is_letter { behind.strip_prefix(") ") } else { None };
    dotted.or_else(closed)
}

/// Marks the lines that are code by their shape.
fn mark_code(lines: &mut [Line]) {
    let outside = |line: &&mut Line| line.fence.is_none() && !matches!(line.kind, Kind::Row | Kind::Blank);
    for line in lines.iter_mut().filter(outside).filter(|line| line.shape.is_code()) {
        (line.kind, line.start) = (Kind::Code, line.whole);
    }
}
