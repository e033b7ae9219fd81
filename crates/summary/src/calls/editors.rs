//! The files that stand in the texts of patches.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// The most files of a patch.
const MOST_FILES: usize = 40;

/// The files that a patch changes: `*** Update File: p`, or the `+++ b/p` of a unified diff.
pub(super) fn patched(text: &str) -> Vec<Box<str>> {
    static FILES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let diff = r"^\+\+\+ (?:b/)?([^\t\n]+).*\n@@|^--- (?:a/)?([^\t\n]+).*\n\+\+\+ /dev/null";
        let files = r"^[ \t]*\*\*\* (?:(?:Update|Add|Delete) File|Move to): *([^\n]*)";
        Regex::new(&format!("(?m){diff}|{files}")).ok()
    });
    let mut files: Vec<Box<str>> = Vec::new();
    for found in FILES.iter().flat_map(|regex| regex.captures_iter(text)) {
        let file = found.iter().skip(1).flatten().next().map_or("", |group| text[group.range()].trim());
        let is_new = !matches!(file, "" | "/dev/null") && !files.iter().any(|known| **known == *file);
        if is_new && files.len() < MOST_FILES {
            files.push(file.into());
        }
    }
    files
}

/// Whether a script is an editor's command on the file that it has open: `edit 10:20`, the new lines, `end_of_edit`.
pub(super) fn edits_open_file(script: &str) -> bool {
    let first = script.split_whitespace().next().unwrap_or_default();
    matches!(first, "edit" | "insert" | "append")
        && (script.contains("end_of_edit") || script.contains("end_of_insert"))
}
