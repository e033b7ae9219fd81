//! Sessions of pi: the files `~/.pi/agent/sessions/*/*.jsonl`, one line per entry.
//!
//! The first line tells about the session. An entry names the one before it (`parentId`), so a session that was wound back
//! branches; in the oldest files, entries have no ids and follow the line before them. The messages are read as
//! Anthropic's. Thoughts are left out, whose signatures are of many providers.

use serde_json::{Value, json};

use super::{
    BRANCH_OF, Message, foreign, is_true, labels, text, time_of,
    tree::{Lines, Tree},
};
use crate::{Parsed, anthropic, place::Notes, texts::listed};
use utterd_domain::Refusal;

/// Reads the lines of a session. It goes on from its last line; each other branch is a conversation of its own.
pub fn conversations(lines: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let is_header = |line: &&Value| text(line, "type") == Some("session");
    let about = lines.iter().find(is_header);
    let entries: Vec<&Value> = lines.iter().filter(|line| !is_header(line)).collect();
    if about.is_none() && !entries.iter().any(|entry| entry.get("message").is_some()) && !lines.is_empty() {
        return Err(foreign("pi"));
    }
    let said: Vec<Option<Value>> = entries.iter().map(|entry| message(entry)).collect();
    let own = about.and_then(|about| text(about, "id"));
    let (session, ids) = (own.unwrap_or("session"), ids(&entries));
    let title = entries.iter().rev().find_map(|entry| text(entry, "name"));
    let told = Lines {
        provider: &anthropic::PROVIDER,
        is_said: &|at| said[at].is_some(),
        is_alone: &|at| said[at].is_some() && entries[at]["message"]["role"] == "user",
        messages: &|nodes| {
            nodes.iter().filter_map(|at| read(entries[*at], *at, said[*at].as_ref()?)).collect()
        },
        name: &|path, _| path.name(session, path.nodes.last().map_or("", |at| &ids[*at])),
        describe: &|parsed, path, left| {
            let cwd = about.and_then(|about| text(about, "cwd"));
            parsed.labels = labels([("cwd", cwd), (BRANCH_OF, left)]);
            parsed.id = parsed.id.take().filter(|_| own.is_some() || path.number > 0);
            parsed.title = title.map(str::to_owned);
        },
    };
    let nodes: Vec<_> = (0..entries.len()).map(|at| (&*ids[at], before(entries[at], at, &ids))).collect();
    let mut found = Vec::new();
    Tree::of(&nodes, None).read(&told, &mut found, notes)?;
    Ok(found)
}

/// The id of each entry; of one without an id, its position.
fn ids(entries: &[&Value]) -> Vec<String> {
    let id = |(at, entry): (usize, &&Value)| text(entry, "id").map_or_else(|| at.to_string(), str::to_owned);
    entries.iter().enumerate().map(id).collect()
}

/// The id of the entry before an entry.
fn before<'v>(entry: &'v Value, at: usize, ids: &'v [String]) -> Option<&'v str> {
    match text(entry, "id") {
        Some(_) => text(entry, "parentId"),
        None => at.checked_sub(1).map(|before| &*ids[before]),
    }
}

fn read(entry: &Value, node: usize, value: &Value) -> Option<Message> {
    let id = text(entry, "id").map(str::to_owned);
    Some(Message { node, id, time: time_of(entry, "timestamp"), value: value.clone() })
}

/// What an entry says, as one of Anthropic's messages; `None` if it says nothing that a model was sent, or repeats it as a
/// summary.
fn message(entry: &Value) -> Option<Value> {
    let message = match text(entry, "type")? {
        "message" => entry.get("message")?,
        "custom_message" => return said("user", blocks(&entry["content"])),
        _ => return None,
    };
    let content = blocks(&message["content"]);
    match text(message, "role")? {
        "user" | "custom" | "hookMessage" => said("user", content),
        "assistant" => said("assistant", content),
        "toolResult" => {
            let (call, failed) = (&message["toolCallId"], is_true(message, "isError"));
            let result =
                json!({"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed});
            said("user", vec![result])
        }
        "bashExecution" if !is_true(message, "excludeFromContext") => {
            let [command, output] = ["command", "output"].map(|name| text(message, name).unwrap_or_default());
            let ran = format!("Ran `{command}`\n```\n{output}\n```");
            said("user", vec![json!({"type": "text", "text": ran})])
        }
        _ => None,
    }
}

fn said(role: &str, content: Vec<Value>) -> Option<Value> {
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

/// The blocks of a content, as Anthropic's.
fn blocks(content: &Value) -> Vec<Value> {
    let parts = match content {
        Value::String(text) => return vec![json!({"type": "text", "text": text})],
        other => other.as_array().map_or(&[][..], Vec::as_slice),
    };
    let block = |part: &Value| match text(part, "type")? {
        "text" => Some(json!({"type": "text", "text": part["text"]})),
        "image" => {
            let source = json!({"type": "base64", "media_type": part["mimeType"], "data": part["data"]});
            Some(json!({"type": "image", "source": source}))
        }
        "toolCall" => {
            let (id, name, input) = (&part["id"], &part["name"], &part["arguments"]);
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        _ => None,
    };
    parts.iter().filter_map(block).collect()
}

/// The fields of a line and of its message that are read.
const READ: &str = "command content cwd excludeFromContext id isError message name output parentId role timestamp \
    toolCallId type";

/// A line with the fields that are read; `None` if it is no object.
pub fn condensed(line: &str) -> Option<String> {
    let mut line: Value = serde_json::from_str(line).ok()?;
    line.as_object_mut()?.retain(|name, _| listed(READ, name));
    if let Some(message) = line.get_mut("message").and_then(Value::as_object_mut) {
        message.retain(|name, _| listed(READ, name));
    }
    Some(format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Condenser, Format, Source, UnknownRoles, parse};
    use utterd_domain::import::Branch;

    const SESSION: &str = include_str!("../../../../examples/data/pi.jsonl");

    fn read(text: &str) -> Source {
        parse(text.as_bytes(), None, UnknownRoles::Refuse).unwrap()
    }

    fn said(parsed: &Parsed) -> Vec<String> {
        let ids = |draft: &utterd_domain::Draft| {
            let calls = draft.tool_calls().iter().map(|call| format!(" {}({})", call.name, call.id));
            calls.chain(draft.tool_call_id().map(|id| format!(" ={id}"))).collect::<String>()
        };
        let told = |draft: &utterd_domain::Draft| format!("{} {}{}", draft.role, draft.content, ids(draft));
        parsed.said.iter().map(|sourced| told(&sourced.draft)).collect()
    }

    #[test]
    fn a_session_has_calls_commands_and_branches() {
        let source = read(SESSION);
        assert_eq!(source.format, Format::Pi);
        let [main, left] = source.conversations.as_slice() else { panic!("two") };
        assert_eq!(
            said(main),
            [
                "user Which tests are slow?",
                "assistant  bash(call_1)",
                "tool 4.81s test_import =call_1",
                "assistant test_import takes 4.8 seconds.",
                "user Make it faster instead.",
                "user Ran `git status --short`\n```\n M import.py\n```",
                "assistant It reads one file now: 0.2 seconds.",
            ]
        );
        assert_eq!((main.id.as_deref(), main.title.as_deref()), (Some("0c5e5510-pi"), Some("Slow tests")));
        assert_eq!(main.labels["cwd"], "/home/ana/shop");
        assert_eq!(left.id.as_deref(), Some("0c5e5510-pi~00000007"));
        assert_eq!(left.branch, Some(Branch { of: 0, after: 3 }));
        assert_eq!(said(left), ["user Delete it.", "assistant Deleted."]);
    }

    #[test]
    fn entries_without_ids_follow_one_another() {
        let mut lines: Vec<Value> =
            SESSION.lines().take(6).map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &mut lines[1..] {
            line.as_object_mut().unwrap().retain(|name, _| !["id", "parentId"].contains(&name.as_str()));
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let source = read(&text);
        assert_eq!(source.conversations.len(), 1);
        assert_eq!(said(&source.conversations[0]), said(&read(SESSION).conversations[0])[..4]);
    }

    #[test]
    fn what_is_not_read_is_left_out_of_a_large_session() {
        let mut condenser = Condenser::of(SESSION.as_bytes()).unwrap();
        let lines = SESSION.as_bytes().split_inclusive(|byte| *byte == b'\n');
        let condensed: Vec<u8> = lines.flat_map(|line| condenser.line(line)).collect();
        assert!(condensed.len() < SESSION.len());
        let condensed = read(str::from_utf8(&condensed).unwrap());
        assert_eq!(condensed.conversations, read(SESSION).conversations);
    }

    #[test]
    fn a_torn_line_is_skipped() {
        let torn = read(&SESSION[..SESSION.len() - 20]);
        assert!(torn.torn.is_some());
        assert_eq!(said(&torn.conversations[0]), said(&read(SESSION).conversations[0]));
    }
}
