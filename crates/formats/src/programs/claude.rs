//! Claude's export: `conversations.json`, an array of conversations with `chat_messages`.
//!
//! One message of the assistant holds its calls and their results; it is split into the messages of Anthropic's API.
//! Calls have no ids in most exports, so each result belongs to the first open call of its tool.

use serde_json::{Value, json};

use super::{
    BRANCH_OF, Message, authored, elements, is_true, labels, missing, text, time_of,
    tree::{Lines, Tree},
};
use crate::{Parsed, anthropic, place::Notes};
use utterd_domain::Refusal;

/// Reads an export, or one conversation of it. An abandoned branch is a conversation of its own.
pub fn conversations(values: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let mut found = Vec::new();
    for (index, value) in super::each(values).iter().enumerate() {
        if !value.get("chat_messages").is_some_and(Value::is_array) {
            return Err(missing(index, "chat_messages", "a conversation of Claude's export"));
        }
        authored(elements(value, "chat_messages").iter(), "sender", "Claude")?;
        one(value, &mut found, notes)?;
    }
    Ok(found)
}

fn one(value: &Value, found: &mut Vec<Parsed>, notes: &mut Notes) -> Result<(), Refusal> {
    let said = elements(value, "chat_messages");
    let has_tree = said.iter().any(|message| text(message, "parent_message_uuid").is_some());
    let previous = |at: usize| at.checked_sub(1).and_then(|at| text(&said[at], "uuid"));
    let node = |(at, message)| {
        let before = if has_tree { text(message, "parent_message_uuid") } else { previous(at) };
        (text(message, "uuid").unwrap_or_default(), before)
    };
    let nodes: Vec<_> = said.iter().enumerate().map(node).collect();
    let id = text(value, "uuid").unwrap_or("conversation");
    let lines = Lines {
        provider: &anthropic::PROVIDER,
        is_said: &|at| !messages(at, &said[at]).is_empty(),
        // a message holds its calls and their results
        is_alone: &|_| true,
        messages: &|nodes| nodes.iter().flat_map(|at| messages(*at, &said[*at])).collect(),
        name: &|path, _| path.name(id, path.nodes.last().map_or("", |at| nodes[*at].0)),
        describe: &|parsed, _, left| {
            parsed.title = text(value, "name").map(str::to_owned);
            parsed.start = time_of(value, "created_at").or(parsed.start);
            parsed.labels = labels([(BRANCH_OF, left)]);
        },
    };
    Tree::of(&nodes, text(value, "current_leaf_message_uuid")).read(&lines, found, notes)
}

/// The messages of the API that one message of the export stands for.
fn messages(node: usize, message: &Value) -> Vec<Message> {
    let is_users = matches!(text(message, "sender"), Some("human"));
    let id = text(message, "uuid").unwrap_or_default();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut calls = Calls { id, made: 0, open: Vec::new() };
    let blocks = elements(message, "content").iter().filter_map(|block| calls.block(block));
    for block in blocks.chain(attached(message)) {
        let side = if is_users || block["type"] == "tool_result" { "user" } else { "assistant" };
        match turns.last_mut() {
            Some((last, blocks)) if *last == side => blocks.push(block),
            _ => turns.push((side, vec![block])),
        }
    }
    if turns.is_empty()
        && let Some(said) = text(message, "text")
    {
        turns.push((if is_users { "user" } else { "assistant" }, vec![text_block(said)]));
    }
    let made = |(role, blocks): (&str, Vec<Value>)| Message {
        node,
        id: text(message, "uuid").map(str::to_owned),
        time: time_of(message, "created_at"),
        value: json!({"role": role, "content": blocks}),
    };
    turns.into_iter().map(made).collect()
}

fn text_block(said: &str) -> Value {
    json!({"type": "text", "text": said})
}

/// What the user attached: its text if the export has it, otherwise its name.
fn attached(message: &Value) -> Vec<Value> {
    let all = elements(message, "attachments").iter().chain(elements(message, "files"));
    let shown = all.map(|file| {
        let name = text(file, "file_name").unwrap_or("file");
        text_block(&match text(file, "extracted_content") {
            Some(content) => format!("[{name}]\n{content}"),
            None => format!("[{name}]"),
        })
    });
    shown.collect()
}

/// The calls of a message.
struct Calls<'m> {
    id: &'m str,
    made: usize,
    /// The tools and ids of those without a result.
    open: Vec<(String, String)>,
}

impl Calls<'_> {
    /// The block as the API knows it; `None` if it is no part of what was said, or is empty. The signature of a thought
    /// is not exported, so a model would refuse the thought.
    fn block(&mut self, block: &Value) -> Option<Value> {
        match text(block, "type")? {
            "text" => text(block, "text").map(text_block),
            "tool_use" => Some(self.call(block)),
            "tool_result" => Some(self.result(block)),
            _ => None,
        }
    }

    fn call(&mut self, block: &Value) -> Value {
        self.made += 1;
        let id = text(block, "id").map_or_else(|| format!("{}/{}", self.id, self.made), str::to_owned);
        let tool = text(block, "name").unwrap_or("tool").to_owned();
        let input = block.get("input").filter(|input| input.is_object()).cloned();
        self.open.push((tool.clone(), id.clone()));
        json!({"type": "tool_use", "id": id, "name": tool, "input": input.unwrap_or_else(|| json!({}))})
    }

    fn result(&mut self, block: &Value) -> Value {
        let given = text(block, "tool_use_id");
        let is_its = |(tool, id): &(String, String)| match given {
            Some(given) => id == given,
            None => text(block, "name").is_none_or(|name| name == tool),
        };
        let open = self.open.iter().position(is_its).map(|at| self.open.remove(at).1);
        let id = open.or_else(|| given.map(str::to_owned)).unwrap_or_default();
        let content = told(block.get("content"));
        let mut result = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if is_true(block, "is_error") {
            result["is_error"] = true.into();
        }
        result
    }
}

/// The text of a result; its other parts, such as what a search found, as JSON.
fn told(content: Option<&Value>) -> String {
    let part = |part: &Value| match text(part, "text") {
        Some(said) if text(part, "type") == Some("text") => said.to_owned(),
        _ => part.to_string(),
    };
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(said)) => said.clone(),
        Some(Value::Array(parts)) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        Some(other) => other.to_string(),
    }
}
