//! Lists that a summary only contains in part.

use std::sync::Arc;

use utterd::domain::Utterance;

/// Items that share this many leading bytes are the same.
const SAME_BYTES: usize = 24;

/// The first item that a summary omits from a list of which its `line` has two items or more, unless the line
/// says that it is cut.
pub fn hidden(line: &str, summary: &str, said: &[Arc<Utterance>]) -> Option<String> {
    let (speaker, told) = line.trim_end().split_once(": ")?;
    let told: Vec<&str> = told.rsplit(": ").next()?.split("; ").collect();
    let says_so = line.contains('…') || line.contains(" more");
    if told.len() < 2 || says_so || !is_speaker(speaker, said) {
        return None;
    }
    let lists = said.iter().flat_map(|utterance| lists(&utterance.content));
    let is_told = |item: &&str| told.iter().any(|told| item.contains(told.trim_end_matches('.')));
    let cut = lists.into_iter().find(|list| is_cut(list, &told, is_told))?;
    let is_elsewhere = |item: &&str| summary.contains(&item[..item.floor_char_boundary(SAME_BYTES)]);
    cut.into_iter().find(|item| !is_told(item) && !is_elsewhere(item)).map(str::to_owned)
}

/// Only what somebody said is a sentence; other lists are composed from several places.
fn is_speaker(speaker: &str, said: &[Arc<Utterance>]) -> bool {
    ["User", "Assistant"].contains(&speaker) || said.iter().any(|utterance| utterance.name() == Some(speaker))
}

/// Whether all quoted items are from the list, and one of the list's is missing.
fn is_cut(list: &[&str], told: &[&str], is_told: impl Fn(&&str) -> bool) -> bool {
    let is_item = |told: &&str| list.iter().any(|item| item.starts_with(told.trim_end_matches('.')));
    told.iter().all(is_item) && !list.iter().all(is_told)
}

/// The items of each Markdown list, without their marks; a list within an item is a separate list.
fn lists(content: &str) -> Vec<Vec<&str>> {
    let mut open: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut lists = Vec::new();
    for line in content.lines().filter(|line| !line.trim().is_empty()) {
        let depth = line.len() - line.trim_start().len();
        let item = item(line.trim());
        while open.last().is_some_and(|(deep, _)| *deep > depth || *deep == depth && item.is_none()) {
            lists.extend(open.pop().map(|(_, list)| list));
        }
        match (item, open.last_mut()) {
            (Some(item), Some((deep, list))) if *deep == depth => list.push(item),
            (Some(item), _) => open.push((depth, vec![item])),
            (None, _) => {}
        }
    }
    lists.extend(open.into_iter().map(|(_, list)| list));
    lists
}

fn item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(". ")).flatten();
    line.strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .or(numbered)
        .map(|item| item.trim_matches('*'))
}
