//! Anthropic's messages.
//!
//! Neighbours on the same side are one message with several content blocks. Each text is a block of its own,
//! so that the tokens of texts add up. A result follows its call directly, so it comes first in the user
//! message behind it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::render::rendered::{Rendered, json, size};
use utterd_domain::{
    Role, ToolCall,
    context::{
        Context, Format, How, Message,
        wording::{SYSTEM_MARK, arguments, name_mark, says, tool},
    },
    exchange::call_ids::{CallIds, Rule},
};

/// A recurring id gets its utterance's sequence as a suffix, and a refused one a hash, so that ids stay the
/// same in the next rendering with the same beginning.
const IDS: Rule = Rule { hashes: true, ..Rule::ANTHROPIC };

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
    /// The last message of the context that it contains.
    #[serde(skip)]
    last: usize,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    ToolUse {
        id: String,
        name: Cow<'a, str>,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
    },
    /// Verbatim.
    #[serde(untagged)]
    Kept(Value),
}

/// Writes `context`: the system messages at its head separately, the rest alternating.
pub(super) fn render(context: &Context) -> Rendered {
    let (head, rest) = context.messages.split_at(context.head.min(context.messages.len()));
    let system: Vec<Block<'_>> = head.iter().filter_map(|message| text(message.text())).collect();
    let mut writer = Writer { ids: CallIds::by(IDS), called: Vec::new() };
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut places = vec![None; head.len()];
    for (message, index) in rest.iter().zip(head.len()..) {
        let role = side(message);
        if turns.last().is_none_or(|turn| turn.role != role) {
            turns.push(Turn { role, content: Vec::new(), last: index });
        }
        if let Some(turn) = turns.last_mut() {
            writer.blocks(message, &mut turn.content);
            turn.last = index;
        }
        places.push(Some(turns.len() - 1));
    }
    Rendered {
        messages_json: json(&turns, size(context)),
        system_json: if system.is_empty() { String::new() } else { json(&system, size(context)) },
        tokens: context.tokens,
        stable_messages: stable(context, &turns),
        places,
        ..Rendered::default()
    }
}

/// All roles but the assistant are on the user's side.
fn side(message: &Message) -> &'static str {
    match message.role {
        Role::Assistant => "assistant",
        Role::System | Role::User | Role::Tool => "user",
    }
}

fn text(text: &str) -> Option<Block<'_>> {
    says(text, Format::AnthropicMessages).then(|| Block::Text { text: text.into() })
}

struct Writer {
    ids: CallIds,
    /// The ids of the most recent calls.
    called: Vec<String>,
}

impl Writer {
    fn blocks<'a>(&mut self, message: &'a Message, blocks: &mut Vec<Block<'a>>) {
        if message.role == Role::Tool {
            let tool_use_id = self.called.get(message.answers).cloned().unwrap_or_default();
            blocks.push(result(message, tool_use_id));
            return;
        }
        let mark = match (message.role, message.name()) {
            (Role::System, _) if message.utterance.is_some() => Some(SYSTEM_MARK.into()),
            (Role::User, Some(name)) => Some(name_mark(name).into()),
            _ => None,
        };
        blocks.extend(mark.map(|text| Block::Text { text }));
        let kept = kept(message);
        if kept.is_empty() {
            blocks.extend(text(message.text()));
        }
        let mut calls = self.calls(message).into_iter();
        for block in kept {
            // calls go out as the conversation has them, in their original places
            blocks.extend(if block["type"] == "tool_use" { calls.next() } else { Some(Block::Kept(block)) });
        }
        blocks.extend(calls);
    }

    fn calls<'a>(&mut self, message: &'a Message) -> Vec<Block<'a>> {
        let Some(utterance) = message.utterance.as_ref().filter(|_| !message.tool_calls().is_empty()) else {
            return Vec::new();
        };
        self.called.clear();
        let mut blocks = Vec::new();
        for call in message.tool_calls() {
            let id = self.ids.assign(&call.id, &format!("_{}", utterance.sequence));
            self.called.push(id.clone());
            blocks.push(Block::ToolUse {
                id,
                name: tool(&call.name, Format::AnthropicMessages),
                input: input(call),
            });
        }
        blocks
    }
}

/// The original content blocks; empty if there is only text.
fn kept(message: &Message) -> Vec<Value> {
    let parts = message.content_parts().and_then(|parts| serde_json::from_str(parts).ok());
    parts.unwrap_or_default()
}

fn result(message: &Message, tool_use_id: String) -> Block<'_> {
    if let Some(Value::Object(mut block)) = kept(message).pop() {
        block.insert("tool_use_id".to_owned(), tool_use_id.into());
        return Block::Kept(Value::Object(block));
    }
    let content = Some(message.text()).filter(|text| says(text, Format::AnthropicMessages));
    Block::ToolResult { tool_use_id, content }
}

fn input(call: &ToolCall) -> Box<RawValue> {
    let written = arguments(call, Format::AnthropicMessages).into_owned();
    // it is already an object
    RawValue::from_string(written).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The number of messages that stay and that nothing will be added to.
fn stable(context: &Context, turns: &[Turn<'_>]) -> usize {
    let stable = turns.iter().take_while(|turn| turn.last < context.stable).count();
    let next = context.messages[context.stable.min(context.messages.len())..]
        .iter()
        .find(|message| message.how != How::Recalled);
    let closed = next.map(side).is_some_and(|side| stable > 0 && turns[stable - 1].role != side);
    if closed { stable } else { stable.saturating_sub(1) }
}
