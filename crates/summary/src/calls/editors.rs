//! The files that stand in the texts of patches and editors.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// The most files of a patch.
const MOST_FILES: usize = 40;

fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// The groups of the matches of a pattern, those that have text.
fn groups<'t>(regex: &Option<Regex>, text: &'t str) -> Vec<&'t str> {
    let found = regex.iter().flat_map(|regex| regex.captures_iter(text));
    let group = |captures: regex_automata::util::captures::Captures| {
        let mut groups = captures.iter().skip(1).flatten().map(|group| text[group.range()].trim());
        groups.find(|group| !group.is_empty() && *group != "/dev/null")
    };
    found.filter_map(group).collect()
}

/// The files that a patch changes: `*** Update File: p`, or the `+++ b/p` of a unified diff.
pub(super) fn patched(text: &str) -> Vec<Box<str>> {
    static FILES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let diff = r"^\+\+\+ (?:b/)?([^\t\n]+).*\n@@|^--- (?:a/)?([^\t\n]+).*\n\+\+\+ /dev/null";
        regex(&format!(r"(?m){diff}|^[ \t]*\*\*\* (?:(?:Update|Add|Delete) File|Move to): *([^\n]*)"))
    });
    let mut files: Vec<Box<str>> = Vec::new();
    for file in groups(&FILES, text) {
        if files.len() < MOST_FILES && !files.iter().any(|known| **known == *file) {
            files.push(file.into());
        }
    }
    files
}

/// The file that an editor says is open, at the end or the start of a result: `(Open file: /a.py)`, `[File: /a.py (9
/// lines total)]`. An editor without an open file says so with a name in which no file can be.
pub(super) fn opened(result: &str) -> Option<&str> {
    static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r"(?:\(Open file|\[File): ([^ )\]\r\n]+)"));
    let head = &result[..result.floor_char_boundary(600)];
    let tail = &result[result.ceil_char_boundary(result.len().saturating_sub(300))..];
    [tail, head].into_iter().find_map(|text| groups(&OPEN, text).pop())
}

/// Whether a script is an editor's command on the open file: `edit 10:20`, the new lines, `end_of_edit`.
pub(super) fn edits_open_file(script: &str) -> bool {
    let first = script.split_whitespace().next().unwrap_or_default();
    matches!(first, "edit" | "insert" | "append")
        && (script.contains("end_of_edit") || script.contains("end_of_insert"))
}
