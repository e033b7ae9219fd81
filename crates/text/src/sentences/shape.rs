//! Tells code from prose by the look of a whole line.

use std::borrow::Cow;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// How many marks it has that are common in code and rare in prose.
    marks: u32,
    /// Its words: what stands between blanks.
    words: u32,
    /// Those with nothing but letters, and punctuation of prose behind them.
    plain: u32,
    /// Its indentation, in bytes.
    indent: usize,
    /// It ends like a sentence.
    ends: bool,
}

/// Longer lines are judged by their beginning.
const READ_BYTES: usize = 400;
/// Marks of code wherever they stand.
const MARKS: [&str; 24] = [
    " = ", " == ", " != ", " += ", " := ", "=>", "->", "::", "&&", "||", "();", "()", "</", "/>", "=\"",
    "= \"", "\":", "):", ") {", "};", "${", " --", "[0", "[i",
];
/// Marks of code at the end of a line.
const ENDS: [&str; 6] = [";", "{", "}", "(", "},", "\\"];
/// Marks of code at the beginning of a line.
const STARTS: [&str; 12] =
    ["//", "/*", "#!", "#include ", ">>> ", "$ ", "@@ ", "+++ ", "--- ", "{\"", "<!", "SELECT "];

impl Shape {
    pub(super) fn of(line: &str, indent: usize) -> Self {
        if line.is_empty() {
            return Self { indent, ..Self::default() };
        }
        let head = without_quoted(&line[..line.floor_char_boundary(READ_BYTES)]);
        let words = head.split_whitespace();
        let (words, plain) =
            words.fold((0, 0), |(all, plain), word| (all + 1, plain + u32::from(is_plain(word))));
        let ends = head.ends_with(['.', '?', '!', '。', '？', '！']) && plain > 2;
        Self { marks: marks(&head), words, plain, indent, ends }
    }

    /// Several marks, and few plain words: the more marks, the more words.
    pub(super) fn is_code(&self) -> bool {
        let least = if self.ends { 4 } else { 2 };
        self.marks >= least && self.plain * 5 < self.words * if self.marks > 2 { 4 } else { 3 }
    }
}

/// A line without what stands between backticks, which prose quotes.
fn without_quoted(line: &str) -> Cow<'_, str> {
    let marks = line.matches('`').count();
    if marks == 0 || !marks.is_multiple_of(2) { line.into() } else { line.split('`').step_by(2).collect() }
}

fn marks(line: &str) -> u32 {
    let inside = MARKS.iter().filter(|mark| line.contains(**mark)).count();
    let ends = ENDS.iter().filter(|mark| line.ends_with(**mark)).count();
    let starts = STARTS.iter().filter(|mark| line.starts_with(**mark) && !is_amount(line)).count();
    (inside + ends + starts + usize::from(calls(line)) + 2 * usize::from(is_tag(line))) as u32
}

/// Whether a name stands right before a bracket: `range(3)`, `rows[i]`.
fn calls(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_call = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && matches!(pair[1], b'(' | b'[');
    bytes.windows(2).any(is_call) && !line.contains("(s)") && !line.contains("](")
}

/// Whether the line is a tag: `<note>`, but not an address between angle brackets.
fn is_tag(line: &str) -> bool {
    let inner = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| {
        !inner.contains(['@', ':', '<']) && inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
    })
}

/// `$ 300 …`, which is no prompt.
fn is_amount(line: &str) -> bool {
    line.strip_prefix("$ ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a word consists of letters, apart from punctuation of prose around it.
fn is_plain(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '*'));
    let joint = |c: char| matches!(c, '-' | '\'' | '’' | '/');
    bare.starts_with(char::is_alphabetic)
        && bare.chars().all(|c| c.is_alphabetic() || joint(c))
        && !word.ends_with("()")
}
