//! The files that stand in the texts of patches and editors.

/// The most files of a patch.
const MOST_FILES: usize = 40;

/// The files that a patch changes: `*** Update File: p`, or the `+++ b/p` of a unified diff.
pub(super) fn patched(text: &str) -> Vec<Box<str>> {
    let mut files: Vec<Box<str>> = Vec::new();
    let mut before = "";
    let is_patch = text.contains("*** Begin Patch") || text.contains(" File: ");
    let is_diff = text.contains("\n@@") && text.contains("+++ ");
    for line in text.lines().filter(|_| is_patch || is_diff) {
        let file = if is_patch { of_patch(line) } else { None }
            .or_else(|| of_diff(before, line).filter(|_| is_diff));
        before = line;
        let file = file.filter(|file| !file.is_empty() && files.len() < MOST_FILES);
        if let Some(file) = file.filter(|file| !files.iter().any(|known| **known == **file)) {
            files.push(file.into());
        }
    }
    files
}

fn of_patch(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("*** ")?;
    let file = ["Update File:", "Add File:", "Delete File:", "Move to:"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))?;
    Some(file.trim())
}

fn of_diff<'a>(before: &'a str, line: &'a str) -> Option<&'a str> {
    let (old, new) = (before.strip_prefix("--- ")?, line.strip_prefix("+++ ")?);
    let told = if new.starts_with("/dev/null") { old } else { new };
    let name = told.split('\t').next().unwrap_or(told).trim();
    Some(name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name))
}

/// The file that an editor says is open, at the end or the start of a result: `(Open file: /a.py)`, `[File: /a.py (9
/// lines total)]`. An editor without an open file says so with a name in which no file can be.
pub(super) fn opened(result: &str) -> Option<&str> {
    let head = &result[..result.floor_char_boundary(600)];
    let tail = &result[result.ceil_char_boundary(result.len().saturating_sub(300))..];
    let after = |text: &'_ str, mark: &str| -> Option<usize> { text.rfind(mark).map(|at| at + mark.len()) };
    let (text, at) = [(tail, "(Open file: "), (tail, "[File: "), (head, "[File: ")]
        .into_iter()
        .find_map(|(text, mark)| Some((text, after(text, mark)?)))?;
    text[at..].split([' ', ')', ']', '\n', '\r']).next().filter(|file| !file.is_empty())
}

/// Whether a script is an editor's command on the open file: `edit 10:20`, the new lines, `end_of_edit`.
pub(super) fn edits_open_file(script: &str) -> bool {
    let first = script.split_whitespace().next().unwrap_or_default();
    matches!(first, "edit" | "insert" | "append")
        && (script.contains("end_of_edit") || script.contains("end_of_insert"))
}
