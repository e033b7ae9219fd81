//! Sessions of Claude Code: the files `~/.claude/projects/*/*.jsonl`, one line per event.
//!
//! A line names the one before it (`parentUuid`), so a session that was wound back branches. Its messages are those of
//! Anthropic's API. An answer with several blocks takes several lines with the same `message.id`.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{
    BRANCH_OF, Message,
    does::Does,
    elements, foreign, is_true, labels, text, time_of,
    tree::{Lines, Path, Tree},
};
use crate::{Parsed, anthropic, place::Notes, raw_object::raw_object, texts::listed};
use utterd_domain::Refusal;

/// Reads the lines of one or several sessions. The session goes on from its last line; each other branch, and each
/// subagent, is a conversation of its own.
pub fn conversations(lines: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let titles = titles(&lines);
    let is_foreign = |line: &Value| ["sessionId", "leafUuid"].iter().all(|name| text(line, name).is_none());
    if !lines.is_empty() && lines.iter().all(is_foreign) {
        return Err(foreign("Claude Code"));
    }
    let lines = once(&lines);
    let befores = befores(&lines);
    let nodes = lines.iter().zip(&befores).map(|(line, before)| (id(line), before.as_deref()));
    let nodes: Vec<_> = nodes.collect();
    let is_users = |line: &Value| text(line, "type") == Some("user") && !is_result(line);
    let mut found = Vec::new();
    let told = Lines {
        provider: &anthropic::PROVIDER,
        is_said: &|at| is_message(lines[at]),
        is_alone: &|at| is_users(lines[at]) && is_message(lines[at]),
        messages: &|nodes| messages(&lines, nodes),
        name: &|path, taken| name(path, &lines, taken),
        describe: &|parsed, path, left| {
            describe(parsed, path.nodes.iter().map(|at| lines[*at]), &titles, left)
        },
    };
    Tree::of(&nodes, None).read(&told, &mut found, notes)?;
    Ok(found)
}

/// Sets the title and labels of a conversation that ends with these lines.
fn describe<'v>(
    parsed: &mut Parsed,
    mut way: impl DoubleEndedIterator<Item = &'v Value> + Clone,
    titles: &HashMap<&str, &str>,
    left: Option<&str>,
) {
    let agent = way.clone().next_back().and_then(|line| text(line, "agentId"));
    let title = way.clone().rev().find_map(|line| titles.get(id(line)));
    let first = way.find(|line| is_message(line));
    let label = |name: &str| first.and_then(|line| text(line, name));
    parsed.title = title.map(|title| (*title).to_owned());
    parsed.labels = labels([
        ("cwd", label("cwd")),
        ("git_branch", label("gitBranch")),
        ("agent", agent),
        (BRANCH_OF, left),
    ]);
}

/// The name of a path: its session's own, unless that is taken or the path is a subagent's.
fn name(path: &Path, lines: &[&Value], taken: &HashSet<String>) -> String {
    let Some(last) = path.nodes.last().map(|at| lines[*at]) else { return String::new() };
    let session = text(last, "sessionId").unwrap_or("session");
    let name = match is_true(last, "isSidechain") {
        true => format!("{session}~{}", text(last, "agentId").unwrap_or_else(|| id(lines[path.root]))),
        false => session.to_owned(),
    };
    if taken.contains(&name) { format!("{name}~{}", id(last)) } else { name }
}

/// The fields of a line that are read.
const READ: &str = "agentId cwd gitBranch isApiErrorMessage isCompactSummary isMeta isSidechain leafUuid logicalParentUuid \
    message parentUuid sessionId summary timestamp type uuid";

/// A line with the fields that are read; `None` if it is no object.
pub fn condensed(line: &str) -> Option<String> {
    let line = raw_object(line)?;
    let read = line.iter().filter(|(name, _)| listed(READ, name));
    let fields: Vec<String> = read.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    Some(format!("{{{}}}\n", fields.join(",")))
}

/// What a line does to the answer before it. The line of an answer that ends it can say so.
pub fn does(line: Value) -> Does {
    let message = &line["message"];
    match text(&line, "type") {
        Some("assistant") if text(message, "stop_reason").is_none() => {
            Does::Continue(text(message, "id").map(str::to_owned))
        }
        Some("assistant" | "user" | "system") => Does::End,
        _ => Does::Nothing,
    }
}

fn id(line: &Value) -> &str {
    text(line, "uuid").unwrap_or_default()
}

/// The lines with an id, each once: a session that is resumed can repeat the one that it continues.
fn once(lines: &[Value]) -> Vec<&Value> {
    let mut seen = HashSet::new();
    lines.iter().filter(|line| !id(line).is_empty() && seen.insert(id(line))).collect()
}

/// The id of the line before each line. If the line that is named is not there, the line follows the one before it in the
/// file, of the same session and agent.
///
/// The blocks of one answer, and the results of its calls, are put in the order of the file: as written, the result of
/// a first call is next to the second call instead of after it.
fn befores(lines: &[&Value]) -> Vec<Option<String>> {
    // Of each line that belongs to an answer, the answer; of each answer, its last line so far.
    let (mut answer_of, mut last): (HashMap<&str, &str>, HashMap<&str, &str>) =
        (HashMap::new(), HashMap::new());
    let there: HashSet<&str> = lines.iter().map(|line| id(line)).collect();
    let mut newest: HashMap<_, &str> = HashMap::new();
    let mut befores = Vec::new();
    for line in lines {
        let of = (text(line, "sessionId"), is_true(line, "isSidechain"), text(line, "agentId"));
        let newest = newest.insert(of, id(line));
        let named = text(line, "parentUuid").or(text(line, "logicalParentUuid"));
        let before = named.and_then(|named| if there.contains(named) { Some(named) } else { newest });
        let beside = before.and_then(|before| answer_of.get(before).copied());
        befores.push(beside.and_then(|answer| last.get(answer).copied()).or(before).map(str::to_owned));
        let own = line.get("message").and_then(|message| text(message, "id"));
        let of = match text(line, "type") {
            Some("assistant") => own,
            _ if is_result(line) => beside,
            _ => None,
        };
        if let Some(answer) = of {
            answer_of.insert(id(line), answer);
            last.insert(answer, id(line));
        }
    }
    befores
}

fn is_result(line: &Value) -> bool {
    let content = line.get("message").map_or(&[][..], |message| elements(message, "content"));
    content.iter().any(|block| text(block, "type") == Some("tool_result"))
}

/// Whether a line is something that was said, and neither written by the program on somebody's behalf nor a
/// summary of earlier lines.
fn is_message(line: &Value) -> bool {
    let is_said = matches!(text(line, "type"), Some("user" | "assistant")) && line.get("message").is_some();
    is_said
        && !["isMeta", "isCompactSummary", "isApiErrorMessage"].into_iter().any(|mark| is_true(line, mark))
}

/// The messages of some lines: the blocks of one answer together.
fn messages(lines: &[&Value], nodes: &[usize]) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut answer = None;
    for node in nodes.iter().copied().filter(|at| is_message(lines[*at])) {
        let (line, message) = (lines[node], &lines[node]["message"]);
        let own = text(message, "id").filter(|_| text(line, "type") == Some("assistant"));
        let content = message.get("content").cloned().unwrap_or_default();
        if let (Some(_), true, Some(before), Value::Array(blocks)) =
            (own, own == answer, messages.last_mut(), &content)
            && let Some(Value::Array(all)) = before.value.get_mut("content")
        {
            all.extend(blocks.iter().cloned());
            continue;
        }
        answer = own;
        let role = message.get("role").cloned().unwrap_or_else(|| line["type"].clone());
        messages.push(Message {
            node,
            id: text(line, "uuid").map(str::to_owned),
            time: time_of(line, "timestamp"),
            value: json!({"role": role, "content": content}),
        });
    }
    messages
}

/// The titles by the lines that they stand for.
fn titles(lines: &[Value]) -> HashMap<&str, &str> {
    lines.iter().filter_map(|line| Some((text(line, "leafUuid")?, text(line, "summary")?))).collect()
}
