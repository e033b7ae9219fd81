//! What was done: the tool calls that changed something.

use crate::{closing::material::Line, extractive::ToldCall};

/// How many calls of one tool are named.
const MOST_NAMED: usize = 4;
/// The place of the last successful call that changed something, and a line for it. Calls of the same tool
/// are listed together if each has its own name.
pub(super) fn last_done(lines: &[Line]) -> Option<(usize, Line)> {
    let calls = lines.iter().enumerate().filter(|(_, line)| line.is_change);
    let calls: Vec<(usize, ToldCall<'_>)> =
        calls.filter_map(|(at, line)| Some((at, ToldCall::of(&line.said)?))).collect();
    let (at, last) = *calls.iter().rfind(|(_, call)| call.is_done())?;
    let alike = calls.iter().map(|(_, call)| *call).filter(|call| call.tool == last.tool && call.is_done());
    let names: Option<Vec<&str>> = alike.map(ToldCall::key).collect();
    let said = match distinct(names.unwrap_or_default()) {
        names if names.len() > 1 => format!("{}({}) → ok", last.tool, list(&names)),
        _ => last.short(),
    };
    Some((at, Line { said, ..lines[at].clone() }))
}

fn distinct(names: Vec<&str>) -> Vec<&str> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        distinct.retain(|other| *other != name);
        distinct.push(name);
    }
    distinct
}

/// The last few names, with a count of those before them.
fn list(names: &[&str]) -> String {
    let before = names.len().saturating_sub(MOST_NAMED);
    let told = names[before..].join("; ");
    if before == 0 { told } else { format!("{told}; … and {before} more") }
}
