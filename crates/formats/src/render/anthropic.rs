//! Anthropic's messages.
//!
//! Neighbours on the same side are one message with several content blocks. Each text is a block of its own,
//! so that the tokens of texts add up. A result follows its call directly, so it comes first in the user
//! message behind it.

use std::{borrow::Cow, collections::HashSet};

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::{
    render::rendered::{Rendered, json, size},
    texts,
};
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
    ToolUse(Call<'a>),
    ToolResult {
        tool_use_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
    },
    /// Verbatim.
    #[serde(untagged)]
    Kept(Value),
}

#[derive(Serialize)]
struct Call<'a> {
    id: String,
    name: Cow<'a, str>,
    input: Box<RawValue>,
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
    settle_servers(&mut turns);
    settle_end(&mut turns);
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
        for mut block in kept {
            if block["type"] == "tool_use" {
                let Some(call) = calls.next() else { continue };
                call.put_into(&mut block);
            }
            blocks.push(Block::Kept(block));
        }
        blocks.extend(calls.map(Block::ToolUse));
    }

    fn calls<'a>(&mut self, message: &'a Message) -> Vec<Call<'a>> {
        let Some(utterance) = message.utterance.as_ref().filter(|_| !message.tool_calls().is_empty()) else {
            return Vec::new();
        };
        self.called.clear();
        let mut calls = Vec::new();
        for call in message.tool_calls() {
            let id = self.ids.assign(&call.id, &format!("_{}", utterance.sequence));
            self.called.push(id.clone());
            calls.push(Call { id, name: tool(&call.name, Format::AnthropicMessages), input: input(call) });
        }
        calls
    }
}

impl Call<'_> {
    /// Puts the call as the conversation has it into its original block.
    fn put_into(self, block: &mut Value) {
        let Some(fields) = block.as_object_mut() else { return };
        let input = serde_json::from_str(self.input.get()).unwrap_or_default();
        let own = [("id", self.id.into()), ("name", self.name.into_owned().into()), ("input", input)];
        fields.extend(own.map(|(name, value): (&str, Value)| (name.to_owned(), value)));
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

/// Turns calls and results of a provider's own tools into text where one is without the other: the API refuses them. Of
/// a turn that was paused, and that nobody has answered, the calls stay open.
fn settle_servers(turns: &mut [Turn<'_>]) {
    let answered = |turn: &Turn<'_>| turn.role == "user" && !turn.content.iter().all(is_result);
    let last_answered = turns.iter().rposition(answered).unwrap_or(0);
    let ids = |end: &str, id: &str| -> HashSet<String> {
        let blocks = turns.iter().flat_map(|turn| &turn.content).filter_map(|block| served(block, end));
        blocks.filter_map(|block| Some(block[id].as_str()?.to_owned())).collect()
    };
    let (calls, results) = (ids(USE, "id"), ids(RESULT, "tool_use_id"));
    let alone = |block: &Block<'_>, at: usize| match (served(block, USE), served(block, RESULT)) {
        (Some(call), _) => at < last_answered && !call["id"].as_str().is_some_and(|id| results.contains(id)),
        (_, Some(result)) => !result["tool_use_id"].as_str().is_some_and(|id| calls.contains(id)),
        _ => false,
    };
    for (at, turn) in turns.iter_mut().enumerate() {
        for block in turn.content.iter_mut().filter(|block| alone(block, at)) {
            if let Block::Kept(kept) = block {
                let (said, kind) = (texts::of(kept), texts::kind(kept));
                let text = if said.is_empty() { format!("[{kind}]") } else { said };
                *block = Block::Text { text: text.into() };
            }
        }
    }
}

/// How the types of the calls and results of a provider's own tools end.
const USE: &str = "_tool_use";
const RESULT: &str = "_tool_result";

fn served<'b>(block: &'b Block<'_>, end: &str) -> Option<&'b Value> {
    match block {
        Block::Kept(block) if texts::kind(block).ends_with(end) => Some(block),
        _ => None,
    }
}

fn is_result(block: &Block<'_>) -> bool {
    matches!(block, Block::ToolResult { .. })
        || matches!(block, Block::Kept(kept) if kept["type"] == "tool_result")
}

/// The API refuses white space at the end of a final assistant message.
fn settle_end(turns: &mut [Turn<'_>]) {
    let last = turns.last_mut().filter(|last| last.role == "assistant");
    if let Some(Block::Kept(last)) = last.and_then(|last| last.content.last_mut())
        && let Some(Value::String(text)) = last.get_mut("text")
    {
        text.truncate(text.trim_end().len());
    }
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
