//! Writes messages as a provider's JSON.

use std::iter::Peekable;

use serde::Serialize;
use serde_json::Value;

use crate::{
    domain::{Draft, Role, ToolCall, history::Entry},
    formats::history::Format,
};

/// The written messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// A JSON array.
    pub messages_json: String,
    /// The text of the system messages, if they are separate.
    pub system: String,
    /// The number of messages in the array.
    pub message_count: usize,
}

/// Writes messages that are paired and alternate.
pub fn write(entries: &[Entry], format: Format) -> Written {
    match format {
        Format::OpenAiChat => {
            let messages: Vec<_> = entries.iter().map(|entry| chat(&entry.draft)).collect();
            Written { message_count: messages.len(), messages_json: text(&messages), system: String::new() }
        }
        Format::AnthropicMessages => {
            let texts = entries.iter().filter(|entry| entry.draft.role == Role::System);
            let texts: Vec<&str> = texts.map(|entry| &*entry.draft.content).collect();
            let rest = entries.iter().filter(|entry| entry.draft.role != Role::System);
            let messages = turns(rest.map(|entry| &entry.draft));
            Written {
                message_count: messages.len(),
                messages_json: text(&messages),
                system: texts.join("\n\n"),
            }
        }
    }
}

/// The bytes of a message written on its own, and a comma.
pub fn bytes(entry: &Entry, format: Format) -> usize {
    let draft = &entry.draft;
    1 + match format {
        Format::OpenAiChat => text(&chat(draft)).len(),
        Format::AnthropicMessages if draft.role == Role::System => draft.content.len() + 1,
        Format::AnthropicMessages => turns(std::iter::once(draft)).first().map_or(0, |turn| text(turn).len()),
    }
}

/// Writes JSON; values of these types never fail to serialize.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ChatCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ChatCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: ChatFunction<'a>,
}

#[derive(Serialize)]
struct ChatFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn chat(draft: &Draft) -> ChatMessage<'_> {
    let calls = draft.tool_calls();
    ChatMessage {
        role: draft.role.as_str(),
        content: Some(&*draft.content).filter(|text| calls.is_empty() || !text.is_empty()),
        name: draft.more.as_ref().and_then(|more| more.name.as_deref()),
        tool_calls: calls.iter().map(ChatCall::of).collect(),
        tool_call_id: draft.tool_call_id(),
    }
}

impl<'a> ChatCall<'a> {
    fn of(call: &'a ToolCall) -> Self {
        let function = ChatFunction { name: &call.name, arguments: &call.arguments_json };
        Self { id: &call.id, r#type: "function", function }
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
    },
}

/// Makes a turn of each assistant message, and of results together with the user message behind them.
fn turns<'a>(drafts: impl Iterator<Item = &'a Draft>) -> Vec<Turn<'a>> {
    let mut drafts = drafts.peekable();
    let mut turns = Vec::new();
    while let Some(draft) = drafts.next() {
        turns.push(match draft.role {
            Role::Tool => Turn { role: "user", content: Content::Blocks(results(draft, &mut drafts)) },
            Role::Assistant => Turn { role: "assistant", content: assistant(draft) },
            Role::User | Role::System => Turn { role: "user", content: Content::Text(&draft.content) },
        });
    }
    turns
}

fn results<'a>(first: &'a Draft, rest: &mut Peekable<impl Iterator<Item = &'a Draft>>) -> Vec<Block<'a>> {
    let mut blocks = vec![result(first)];
    while let Some(next) = rest.next_if(|next| next.role == Role::Tool) {
        blocks.push(result(next));
    }
    if let Some(user) = rest.next_if(|next| next.role == Role::User) {
        blocks.push(Block::Text { text: &user.content });
    }
    blocks
}

fn result(draft: &Draft) -> Block<'_> {
    Block::ToolResult { tool_use_id: draft.tool_call_id().unwrap_or_default(), content: &draft.content }
}

fn assistant(draft: &Draft) -> Content<'_> {
    let calls = draft.tool_calls();
    if calls.is_empty() {
        return Content::Text(&draft.content);
    }
    let said = (!draft.content.is_empty()).then_some(Block::Text { text: &draft.content });
    let uses = calls.iter().map(|call| Block::ToolUse {
        id: &call.id,
        name: &call.name,
        input: serde_json::from_str(&call.arguments_json).unwrap_or_default(),
    });
    Content::Blocks(said.into_iter().chain(uses).collect())
}
