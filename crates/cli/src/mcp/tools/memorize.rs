//! `memorize`: stores what was said.

use rmcp::{
    model::JsonObject,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::Value;

use super::role::Role;
use crate::{
    errors::is_lost,
    mcp::{
        bounds::LISTED,
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
    },
    terminal::{count, counted, sequences},
};
use utterd_rpc::proto::{MemorizeRequest, MemorizeResponse, NewUtterance, ToolCall};

/// The arguments of one message, which some models write without `messages` around it.
const MESSAGE: [&str; 7] = ["role", "content", "name", "tool_calls", "tool_call_id", "tools_used", "pinned"];

/// Stores messages.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Memorize {
    /// In the order in which they were said.
    #[schemars(length(min = 1))]
    messages: Vec<Message>,
    /// Default: the current conversation. A new id starts a conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
    /// Names this attempt: repeated within 24 hours, it stores nothing twice.
    request_id: Option<String>,
}

/// A message to store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(expecting = "an object with role and content")]
pub struct Message {
    /// `tool` for a tool's result.
    role: Role,
    /// Word for word.
    content: Option<String>,
    /// Of the person or the tool.
    name: Option<String>,
    /// Calls that the assistant makes. Store the result of each, too.
    tool_calls: Option<Vec<Call>>,
    /// Of a tool's result: the id of its call.
    tool_call_id: Option<String>,
    /// Names of the tools that the assistant used, if tool_calls are not stored.
    tools_used: Option<Vec<String>>,
    /// Keep it in view when older messages are summarised.
    pinned: Option<bool>,
}

/// A call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Call {
    id: String,
    name: String,
    /// JSON in a string.
    #[schemars(with = "Option<String>")]
    arguments: Option<Value>,
}

impl Tool for Memorize {
    const NAME: &'static str = "memorize";
    const TITLE: &'static str = "Memorize messages";
    const DESCRIPTION: &'static str = "Store what the user and you said, word for word, as it is said, so that it can be \
         found and continued later.";
    const EFFECT: Effect = Effect::Adds;
    const RARE: &'static [&'static str] = &["recipient_id", "request_id", "tools_used", "pinned"];
    const ALIASES: Aliases = &[
        ("messages", &["message", "utterances"]),
        ("content", &["text", "message"]),
        ("role", &["speaker"]),
        ("arguments", &["input", "args"]),
    ];

    fn reshape(given: &mut JsonObject) {
        if given.contains_key("role") && !given.contains_key("messages") {
            let of_message = |name: &str| MESSAGE.contains(&name);
            let names: Vec<_> = given.keys().filter(|name| of_message(name)).cloned().collect();
            let message: JsonObject =
                names.iter().filter_map(|name| given.shift_remove_entry(name)).collect();
            given.insert("messages".into(), Value::Object(message));
        }
        given.values_mut().for_each(unnest);
    }

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let recipient_id = memory.recipient(self.recipient_id);
        let answers = self.messages.first().is_some_and(|message| message.role == Role::Tool);
        let opened = memory.open(self.conversation_id, &recipient_id, !answers).await?;
        let request = MemorizeRequest {
            conversation_id: opened.id,
            recipient_id,
            utterances: self.messages.into_iter().map(NewUtterance::from).collect(),
            request_id: self
                .request_id
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| memory.request_id.clone()),
            ..Default::default()
        };
        let stored = memory.server.memory().memorize(request).await;
        if opened.started && stored.as_ref().is_err_and(|status| !is_lost(status)) {
            memory.close().await;
        }
        let mut response = stored?.into_inner();
        response.started_conversation |= opened.started;
        response.ended_conversation_id.extend(opened.ended.as_deref());
        let text = text(&response);
        response.evicted.truncate(LISTED);
        Answer::new(&response, text)
    }
}

/// Some models write a call as OpenAI's API does, with its name and arguments in `function`.
fn unnest(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(unnest),
        Value::Object(fields) => {
            if let Some(Value::Object(function)) = fields.shift_remove("function") {
                fields.shift_remove("type");
                fields.extend(function);
            }
            fields.get_mut("tool_calls").into_iter().for_each(unnest);
        }
        _ => {}
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
            role: message.role.wire().into(),
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
