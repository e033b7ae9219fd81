//! The parts of a summary's line that were said, and the words that the summariser puts between them.

use crate::source::Source;

/// The separators of parts.
const BETWEEN: [&str; 9] = [": ", "; ", " → ", "(", ")", ", ", ". ", "? ", "! "];
/// The summariser's own words.
const OWN: &[&str] = &[
    "User",
    "Assistant",
    "System",
    "Tool",
    "called",
    "mentioned",
    "noted",
    "late",
    "result",
    "of",
    "error",
    "ok",
    "no",
    "answer",
    "failed",
    "and",
    "more",
    "Open",
];

/// The part of `line` that is not in `source`, if any.
pub fn not_in<'a>(line: &'a str, source: &Source) -> Option<&'a str> {
    let (speaker, said) = line.split_once(": ").unwrap_or(("", line));
    let whole = parts(speaker).into_iter().chain([said]);
    let untold =
        |parts: Vec<&'a str>| parts.into_iter().find(|part| !source.holds(part) && !source.holds(told(part)));
    untold(whole.collect()).and_then(|_| untold(parts(line)))
}

fn parts(line: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = line.split_inclusive('…').collect();
    for between in BETWEEN {
        parts = parts.into_iter().flat_map(|part| part.split(between)).collect();
    }
    parts
}

/// Without the summariser's own words on either side, and the count of omitted list items.
fn told(part: &str) -> &str {
    let mut rest = part.trim().trim_end_matches(':');
    if let Some(counted) = rest.strip_suffix(" more") {
        rest = counted.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    }
    while let Some(word) = rest.split(' ').next().filter(|word| OWN.contains(word)) {
        rest = rest[word.len()..].trim_start();
    }
    while let Some(word) = rest.rsplit(' ').next().filter(|word| OWN.contains(word)) {
        rest = rest[..rest.len() - word.len()].trim_end();
    }
    rest
}
