//! Reads the lines of a text: what each one is by its marks and its look.

use std::{borrow::Cow, sync::LazyLock};

use regex_automata::meta::Regex;

/// A line without its marks, or several that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it starts, in bytes, behind its marks.
    pub start: usize,
    /// Where it ends, without blanks.
    pub end: usize,
    pub kind: Kind,
    pub quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    Prose,
    /// A heading, or a row of a table.
    Alone,
    /// Of a list.
    Item,
    /// With the number of the fenced block that it is in, or 0.
    Code(usize),
}

/// What a line can begin with: the mark of a quotation, and then of a heading or of an item.
static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let bullet = r"(?:[-*+•–—·]|\([0-9]{1,3}\)|\([a-z]\)|[0-9]{1,3}[.)]|[a-z]\)) +(?:\[[ xX]\] )?";
    Regex::new(&format!(r"^\s*(>[> ]*)?(?:(#+ +)|({bullet}))?")).ok()
});
/// What is common in code and rare in prose.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let inside = r#" [=!+:]?=|=>|->|::|&&|\|\||\(\);?|</|/>|="| "[^"]*"[;,]?$|":|\):|\) \{|\};|\$\{| --|[A-Za-z0-9][(\[]"#;
    let starts = r#"^(?://|/\*|#!|#include |>>> |\$ (?:[^0-9]|$)|@@ |\+\+\+ |--- |\{"|<!|SELECT )"#;
    Regex::new(&format!("{starts}|{inside}")).ok()
});
/// Longer lines are judged by their beginning, in bytes.
const READ_BYTES: usize = 400;

/// The lines of a text. Fences are blank.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let (mut at, mut fence, mut fences) = (0, None, 0);
    let mut lines = Vec::new();
    for raw in text.split('\n') {
        let (start, end) = (at, at + raw.trim_end().len());
        at += raw.len() + 1;
        let said = raw.trim();
        let mark = fence_of(said.trim_start_matches(['>', ' ']));
        let kind = match (fence, mark) {
            (Some(open), Some(mark)) if mark.starts_with(open) && said.ends_with(mark) => {
                fence = None;
                Kind::Blank
            }
            (Some(_), _) => Kind::Code(fences),
            (None, Some(_)) => {
                (fence, fences) = (mark, fences + 1);
                Kind::Blank
            }
            (None, None) => {
                lines.push(unfenced(start, raw));
                continue;
            }
        };
        lines.push(Line { start, end, kind, quoted: false });
    }
    lines
}

/// The mark of a fence; none of code between backticks on one line.
fn fence_of(said: &str) -> Option<&str> {
    let mark = &said[..said.len() - said.trim_start_matches(['`', '~']).len()];
    (mark.len() >= 3 && !said[mark.len()..].contains('`')).then_some(mark)
}

fn unfenced(at: usize, line: &str) -> Line {
    let said = line.trim();
    let whole = at + line.len() - line.trim_start().len();
    let end = whole + said.len();
    let of = |kind, start| Line { start, end, kind, quoted: false };
    if said.is_empty() || is_code(said) {
        return of(if said.is_empty() { Kind::Blank } else { Kind::Code(0) }, whole);
    }
    if said.starts_with('|') && said.ends_with('|') && said.len() > 1 {
        return of(Kind::Alone, whole);
    }
    // most lines begin with a word
    let begins_with_word = said.starts_with(char::is_alphabetic) && said.as_bytes().get(1) != Some(&b')');
    let Some(marks) = MARKS.as_ref().filter(|_| !begins_with_word) else { return of(Kind::Prose, whole) };
    let mut captures = marks.create_captures();
    marks.captures(line, &mut captures);
    let [quote, heading, item] = [1, 2, 3].map(|group| captures.get_group(group).is_some());
    let start = captures.get_match().map_or(whole, |mark| at + mark.end()).min(end);
    let kind = if heading {
        Kind::Alone
    } else if item {
        Kind::Item
    } else {
        Kind::Prose
    };
    Line { quoted: quote, ..of(kind, start) }
}

/// Several marks of code, and few plain words: the more marks, the more words. What prose quotes between backticks does
/// not count.
fn is_code(line: &str) -> bool {
    let head = &line[..line.floor_char_boundary(READ_BYTES)];
    let is_quoting = head.contains('`') && head.matches('`').count().is_multiple_of(2);
    let head =
        if is_quoting { Cow::Owned(head.split('`').step_by(2).collect()) } else { Cow::Borrowed(head) };
    // not an address between angle brackets
    let is_tag = head.starts_with('<') && head.ends_with('>') && !head.contains(['@', ':']);
    let ends = head.ends_with([';', '{', '}', '(', '\\']) || head.ends_with("},");
    let marks = CODE.as_ref().map_or(0, |code| code.find_iter(&*head).count());
    let marks = marks + usize::from(ends) + 2 * usize::from(is_tag);
    if marks < 2 {
        return false;
    }
    let words = head.split_whitespace().count();
    let plain = head.split_whitespace().filter(|word| is_plain(word)).count();
    let ends = head.ends_with(['.', '?', '!', '。', '？', '！']) && plain > 2;
    marks >= if ends { 4 } else { 2 } && plain * 5 < words * if marks > 2 { 4 } else { 3 }
}

/// Whether a word consists of letters, apart from punctuation of prose around it.
fn is_plain(word: &str) -> bool {
    let bare = word.trim_matches(|c| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '*'));
    let is_inner = |c: char| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '/');
    bare.starts_with(char::is_alphabetic) && bare.chars().all(is_inner) && !word.ends_with("()")
}
