//! The parts of a summary's line that were said, and the words that the summariser puts between them.

use crate::summaries::source::Source;

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
    "solved",
    "and",
    "more",
    "Open",
    "Goal",
    "Named",
    "Root",
    "Steps",
    "Check",
    "Error",
    "Next",
    "asked",
    "said",
    "yes",
    "to",
    "To",
    "do",
];
/// How the line of a check begins that is older than the last change of a file.
const OUTDATED: &str = "Check: (before the last change) ";
/// The heads of lines that list names, values and commands instead of quoting a sentence.
const LISTS: [&str; 5] = ["Steps: ", "Check: ", "Error: ", "Root: ", "Named: "];

/// The part of `line` that is not in `source`, if any.
///
/// A quoted sentence has to be there as it is. Lists (`is_list`, or what looks like one) have paths relative to a root,
/// commands without options, and values with the names of their fields: of these, every word has to be there.
pub fn not_in<'a>(line: &'a str, is_list: bool, source: &Source) -> Option<&'a str> {
    let line = line.strip_prefix(OUTDATED).unwrap_or(line);
    let (speaker, said) = line.split_once(": ").unwrap_or(("", line));
    let whole = parts(speaker).into_iter().chain([said]);
    let untold =
        |parts: Vec<&'a str>| parts.into_iter().find(|part| !source.holds(part) && !source.holds(told(part)));
    let lists = is_list
        || line.contains(" → ")
        || line.contains("; ")
        || LISTS.iter().any(|head| line.starts_with(head))
        || is_value(said);
    let strange = untold(whole.collect()).and_then(|_| untold(parts(line)))?;
    if !lists {
        return Some(strange);
    }
    let held = |part: &&str| source.holds(part) || source.holds(told(part));
    parts(line).into_iter().filter(|part| !held(part)).find_map(|part| unknown(part, source))
}

/// Whether what follows a head is the value of a field: `price 96`.
fn is_value(said: &str) -> bool {
    let words = said.split_whitespace().count();
    words < 5 && !said.ends_with(['.', '!', '?'])
}

/// A word of a part that the source does not have, in the singular or the plural.
fn unknown<'a>(part: &'a str, source: &Source) -> Option<&'a str> {
    let words = told(part).split([' ', '/', '"']);
    let words = words.filter(|word| !word.ends_with('…') && !OWN.contains(&word.trim_matches(':')));
    { words }.find(|word| !source.holds(word) && !source.holds(&format!("{word}s")))
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
