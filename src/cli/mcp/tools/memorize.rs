//! `memorize`: stores what was said.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::role::Role;
use crate::{
    cli::{
        mcp::{
            fault::Fault,
            memory::Memory,
            tool::{Effect, Told, Tool},
        },
        terminal::text::{count, counted, role, sequences},
    },
    proto::{MemorizeRequest, MemorizeResponse, NewUtterance, ToolCall},
};

/// Stores messages.
pub struct Memorize;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What was said, in the order in which it was said; either all of it is stored, or none.
    #[schemars(length(min = 1))]
    messages: Vec<Message>,
    /// The conversation, which is started if it does not exist. By default the recipient's current one, or a new one once that has ended or been idle.
    conversation_id: Option<String>,
    /// The conversation's recipient. By default this server's recipient.
    recipient_id: Option<String>,
    /// Any text that identifies this attempt: a repetition with the same text within 24 hours stores nothing twice.
    request_id: Option<String>,
}

/// A message to store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who said it; `tool` for the result of a tool.
    role: Role,
    /// What was said, word for word. May be left out of an assistant's message with tool_calls.
    content: Option<String>,
    /// The name of the person or the tool.
    name: Option<String>,
    /// With role assistant: the tools that it calls. Each needs its result before the next message of the user.
    tool_calls: Option<Vec<Call>>,
    /// With role tool, where it is required: the id of the call that this is the result of.
    tool_call_id: Option<String>,
    /// With role assistant: names of tools used for it, if the calls themselves are not stored.
    tools_used: Option<Vec<String>>,
    /// Whether it is important: it then stays in view when older messages are summarised.
    pinned: Option<bool>,
}

/// A call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Joins the call to its result.
    id: String,
    /// The tool.
    name: String,
    /// The arguments, as JSON in a string.
    #[schemars(with = "Option<String>")]
    arguments: Option<Value>,
}

/// What was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stored {
    /// The conversation that it went to.
    conversation_id: String,
    /// The conversation's revision after this.
    revision: i64,
    /// Each message, in the order given.
    memorized: Vec<Memorized>,
    /// How many older messages left the window for the summary.
    evicted_count: i64,
    /// Whether the conversation began with this.
    started_conversation: bool,
    /// The conversation that had been idle and has ended now.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_conversation_id: Option<String>,
    /// Whether this had been stored before, with the same request_id.
    replayed: bool,
    /// Tokens in the window now.
    token_count: i64,
    /// The most tokens in the window; absent when unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<i64>,
}

/// A message that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memorized {
    /// Its id.
    utterance_id: String,
    /// Its number in the conversation, from 1.
    sequence: i64,
    /// Who said it.
    role: String,
    /// What it costs in tokens.
    token_count: i64,
}

impl Tool for Memorize {
    const NAME: &'static str = "memorize";
    const TITLE: &'static str = "Memorize messages";
    const DESCRIPTION: &'static str = "Store messages of a conversation, so that they can be found and continued later. \
         Store what the user and you said, word for word, as it is said. Older messages leave the window by themselves and \
         are summarised; nothing else is needed.";
    const EFFECT: Effect = Effect::Adds;
    type Arguments = Arguments;
    type Answer = Stored;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Stored>, Fault> {
        let (conversation_id, recipient_id) =
            (arguments.conversation_id.unwrap_or_default(), memory.recipient(arguments.recipient_id));
        let request = MemorizeRequest {
            conversation_id,
            recipient_id,
            utterances: arguments.messages.into_iter().map(NewUtterance::from).collect(),
            request_id: arguments.request_id.unwrap_or_default(),
            ..Default::default()
        };
        let response = memory.server().memory().memorize(request).await?.into_inner();
        Ok(Told { text: text(&response), answer: response.into() })
    }
}

impl From<Message> for NewUtterance {
    fn from(message: Message) -> Self {
        let call = |Call { id, name, arguments }| ToolCall {
            id,
            name,
            arguments_json: match arguments {
                None => "{}".into(),
                Some(Value::String(json)) => json,
                // some models write the arguments themselves, not a string of JSON
                Some(value) => value.to_string(),
            },
        };
        Self {
            role: message.role.into(),
            name: message.name.unwrap_or_default(),
            content: message.content.unwrap_or_default(),
            tool_calls: message.tool_calls.unwrap_or_default().into_iter().map(call).collect(),
            tool_call_id: message.tool_call_id.unwrap_or_default(),
            tools_used: message.tools_used.unwrap_or_default(),
            pinned: message.pinned.unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl From<MemorizeResponse> for Stored {
    fn from(response: MemorizeResponse) -> Self {
        let capacity = response.capacity.unwrap_or_default();
        let memorized = response.memorized.into_iter().map(|stored| Memorized {
            role: role(stored.role()),
            token_count: stored.token_count().into(),
            sequence: stored.sequence,
            utterance_id: stored.utterance_id,
        });
        Self {
            conversation_id: response.conversation_id,
            revision: response.revision,
            memorized: memorized.collect(),
            evicted_count: i64::try_from(response.evicted.len()).unwrap_or(i64::MAX),
            started_conversation: response.started_conversation,
            ended_conversation_id: Some(response.ended_conversation_id).filter(|id| !id.is_empty()),
            replayed: response.replayed,
            token_count: capacity.token_count().into(),
            max_tokens: capacity.max_tokens.map(Into::into),
        }
    }
}

fn text(response: &MemorizeResponse) -> String {
    let stored = counted(response.memorized.len(), "message");
    let verb = if response.replayed { "Had stored" } else { "Stored" };
    let new = if response.started_conversation { "the new conversation" } else { "conversation" };
    let which = sequences(&response.memorized);
    let mut text = format!("{verb} {stored} ({which}) in {new} {}.", response.conversation_id);
    if !response.ended_conversation_id.is_empty() {
        text += &format!(" Conversation {} had been idle and has ended.", response.ended_conversation_id);
    }
    if !response.evicted.is_empty() {
        text += &format!(
            " {} left the window for the summary.",
            counted(response.evicted.len(), "older message")
        );
    }
    if let Some(capacity) = &response.capacity {
        let most = capacity.max_tokens.map(|most| format!(" of {}", count(most))).unwrap_or_default();
        text += &format!(" The window holds {}{most} tokens.", count(capacity.token_count()));
    }
    text
}
