//! Tells markup and code from prose.

/// The question marks: of Latin letters, of Chinese and Japanese, of Arabic.
pub(in crate::extractive) const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Whether a text ends with a question mark.
pub(crate) fn asks(text: &str) -> bool {
    text.ends_with(QUESTION_MARKS)
}

/// The kind of a Markdown line.
pub(in crate::extractive) enum Mark {
    None,
    Heading,
    Item,
}

/// Strips the markers of headings, quotes, lists and comments from a line.
pub(in crate::extractive) fn strip_mark(line: &str) -> (Mark, &str) {
    let line = line.strip_prefix("<!--").unwrap_or(line);
    let line = line.strip_suffix("-->").unwrap_or(line).trim_end();
    let said = line.trim_start_matches('>').trim_start();
    if let Some(heading) = said.strip_prefix('#') {
        let heading = heading.trim_start_matches('#');
        if heading.starts_with(' ') {
            return (Mark::Heading, heading.trim());
        }
    }
    for bullet in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "] {
        if let Some(item) = said.strip_prefix(bullet) {
            return (Mark::Item, item.trim_start());
        }
    }
    let digits = said.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let behind = &said[digits..];
    if digits > 0
        && let Some(item) = behind.strip_prefix(". ").or_else(|| behind.strip_prefix(") "))
    {
        return (Mark::Item, item.trim_start());
    }
    (Mark::None, said)
}

/// Whether `c` is emphasis or a code quote: `**bold**` and `` `name` ``, but not `2**3`,
/// `src/*` or `*.rs`.
pub(in crate::extractive) fn is_markup(before: char, c: char, rest: &str) -> bool {
    if c != '*' {
        return c == '`';
    }
    let after = rest.trim_start_matches('*').chars().next().unwrap_or(' ');
    let opens = after.is_alphanumeric() || matches!(after, '`' | '"');
    let closes = before.is_alphanumeric() || matches!(before, '.' | ':' | '!' | '?' | ')' | '`' | '"');
    opens != closes
}

/// Whether a line opens or closes fenced code.
pub(in crate::extractive) fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a line is a statement, a prompt with its input, a brace, or a lone tag, in whatever language, with
/// or without its number.
pub(in crate::extractive) fn is_code(line: &str) -> bool {
    let is_tag = line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = unnumbered.len() < line.len() && unnumbered.starts_with(':');
    let line = unnumbered.trim_start();
    let is_typed = [">>> ", "$ ", "import "].iter().any(|start| line.starts_with(start));
    let is_block = line.ends_with("):") && ["class ", "def "].iter().any(|start| line.starts_with(start));
    let is_import = line.starts_with("from ") && line.contains(" import ");
    let is_ended = line.ends_with([';', '{', '}', '(']) && !line.starts_with(['-', '*']);
    is_tag || numbered || is_typed || is_block || is_import || is_ended || is_assignment(line)
}

/// Whether a line gives a variable a value: `queries = list(all)`.
fn is_assignment(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(name, value)| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte))
            && value.ends_with([')', ']', '"', '\''])
    })
}
