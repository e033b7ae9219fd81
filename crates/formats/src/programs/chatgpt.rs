//! ChatGPT's export: `conversations.json`, an array of conversations with a `mapping` of their messages.
//!
//! A message names the one before it. What the assistant sends to a tool, and what a tool answers, are messages of their
//! own: they become calls and results of OpenAI's chat messages.

use serde_json::{Map, Value, json};

use super::{
    BRANCH_OF, Message, authored, elements, is_true, labels, missing, text,
    tree::{Lines, Tree},
};
use crate::{Parsed, openai_chat, place::Notes};
use utterd_domain::{Refusal, Timestamp};

/// Reads an export, or one conversation of it. An abandoned branch, such as that of an answer that was regenerated, is
/// a conversation of its own.
pub fn conversations(values: Vec<Value>, notes: &mut Notes) -> Result<Vec<Parsed>, Refusal> {
    let mut found = Vec::new();
    for (index, value) in super::each(values).iter().enumerate() {
        let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
            return Err(missing(index, "mapping", "a conversation of ChatGPT's export"));
        };
        let said = mapping.values().filter_map(|node| node.get("message"));
        authored(said, "author", "ChatGPT")?;
        one(value, mapping, &mut found, notes)?;
    }
    Ok(found)
}

fn one(
    value: &Value,
    mapping: &Map<String, Value>,
    found: &mut Vec<Parsed>,
    notes: &mut Notes,
) -> Result<(), Refusal> {
    let nodes: Vec<_> = mapping.iter().map(|(id, node)| (id.as_str(), text(node, "parent"))).collect();
    let said: Vec<&Value> =
        mapping.values().map(|node| node.get("message").unwrap_or(&Value::Null)).collect();
    let is_alone = |at: usize| {
        let author: &Value = said[at].get("author").unwrap_or(&Value::Null);
        text(author, "role") == Some("user") && is_shown(said[at])
    };
    let messages = |nodes: &[usize]| {
        let mut messages = Messages::default();
        nodes.iter().for_each(|at| messages.add(*at, said[*at]));
        messages.all
    };
    let id = text(value, "conversation_id").or(text(value, "id")).unwrap_or("conversation");
    let lines = Lines {
        provider: &openai_chat::PROVIDER,
        is_said: &|at| is_shown(said[at]),
        is_alone: &is_alone,
        messages: &messages,
        name: &|path, _| path.name(id, path.nodes.last().map_or("", |at| nodes[*at].0)),
        describe: &|parsed, _, left| {
            parsed.title = text(value, "title").map(str::to_owned);
            parsed.start = seconds(value, "create_time").or(parsed.start);
            parsed.labels = labels([("model", text(value, "default_model_slug")), (BRANCH_OF, left)]);
        },
    };
    Tree::of(&nodes, text(value, "current_node")).read(&lines, found, notes)
}

/// A time in seconds since 1970.
fn seconds(value: &Value, name: &str) -> Option<Timestamp> {
    let seconds = value.get(name)?.as_f64().filter(|seconds| seconds.is_finite() && *seconds > 0.0)?;
    Some(Timestamp((seconds * 1e6).round() as i64))
}

/// Whether a message is something that was said, and not something about the account or the model's thoughts.
fn is_shown(message: &Value) -> bool {
    const HIDDEN: [&str; 4] =
        ["model_editable_context", "user_editable_context", "thoughts", "reasoning_recap"];
    let is_hidden =
        message.get("metadata").is_some_and(|it| is_true(it, "is_visually_hidden_from_conversation"));
    let kind = message.get("content").and_then(|content| text(content, "content_type"));
    message.is_object()
        && !is_hidden
        && !kind.is_some_and(|kind| HIDDEN.contains(&kind))
        && !content(message).is_empty()
}

/// The text of a message.
fn content(message: &Value) -> String {
    let Some(content) = message.get("content") else { return String::new() };
    let parts = elements(content, "parts").iter().map(part).filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.collect();
    let fields = ["title", "url", "text", "result"].into_iter().filter_map(|name| text(content, name));
    match parts.is_empty() {
        true => fields.collect::<Vec<_>>().join("\n"),
        false => parts.join("\n"),
    }
}

/// A part of a message: text, or the name of a picture or a recording.
fn part(part: &Value) -> String {
    match (part.as_str(), text(part, "text"), text(part, "content_type")) {
        (Some(said), ..) | (None, Some(said), _) => said.to_owned(),
        (None, None, Some(kind)) => {
            let asset = text(part, "asset_pointer").map(|asset| format!(" {asset}")).unwrap_or_default();
            format!("[{}{asset}]", kind.trim_end_matches("_asset_pointer").replace('_', " "))
        }
        (None, None, None) => String::new(),
    }
}

/// The messages of OpenAI's API.
#[derive(Default)]
struct Messages {
    all: Vec<Message>,
    /// The tool and the id of the last call, and whether it has a result.
    call: Option<(String, String, bool)>,
}

impl Messages {
    fn add(&mut self, node: usize, message: &Value) {
        if !is_shown(message) {
            return;
        }
        let author = message.get("author").unwrap_or(&Value::Null);
        let role = text(author, "role").unwrap_or_default();
        let recipient = text(message, "recipient").filter(|recipient| *recipient != "all");
        let value = match (role, recipient) {
            ("assistant", Some(tool)) => self.call(message, tool),
            ("tool", _) => match self.result(message, author) {
                Some(value) => value,
                None => return,
            },
            _ => json!({"role": role, "content": content(message)}),
        };
        let id = text(message, "id").map(str::to_owned);
        self.all.push(Message { node, id, time: seconds(message, "create_time"), value });
    }

    fn call(&mut self, message: &Value, tool: &str) -> Value {
        let id = text(message, "id").unwrap_or(tool).to_owned();
        let written = content(message);
        let arguments = match serde_json::from_str::<Value>(&written) {
            Ok(arguments @ Value::Object(_)) => arguments.to_string(),
            _ => json!({ "input": written }).to_string(),
        };
        self.call = Some((tool.to_owned(), id.clone(), false));
        let function = json!({"name": tool, "arguments": arguments});
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]})
    }

    /// The result of the last call. Further messages of the same tool are added to the first one.
    fn result(&mut self, message: &Value, author: &Value) -> Option<Value> {
        let name = text(author, "name").unwrap_or_default();
        let told = content(message);
        let family = |tool: &str| tool.split('.').next().unwrap_or_default().to_owned();
        let open = self.call.as_mut().filter(|(tool, ..)| name.is_empty() || family(tool) == family(name));
        let Some((_, id, is_answered)) = open else {
            return Some(json!({"role": "tool", "tool_call_id": name, "content": told}));
        };
        if std::mem::replace(is_answered, true)
            && let Some(before) = self.all.last_mut().filter(|before| before.value["role"] == "tool")
            && let Some(Value::String(all)) = before.value.get_mut("content")
        {
            all.push('\n');
            all.push_str(&told);
            return None;
        }
        Some(json!({"role": "tool", "tool_call_id": id, "content": told}))
    }
}
