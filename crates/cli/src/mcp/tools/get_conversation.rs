//! `get_conversation`, as seed 000 words it.

use rmcp::{
    model::JsonObject,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

use crate::mcp::{
    bounds::ANSWER_BYTES,
    tool::{Aliases, Effect, Fault, Memory, Told, Tool},
    transcript::{self, Listed, Message},
};
use utterd_rpc::proto::{ConversationStatus, ListConversationsRequest};

/// Conversations in a list, by default.
const RECENT: f64 = 10.0;
/// The most conversations in a list: some 20,000 tokens of titles and summaries.
const MOST_RECENT: f64 = 100.0;

/// Reads conversations that have ended.
pub struct GetConversation;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The ID of a specific conversation to retrieve. Returns full conversation history with all messages.
    conversation_id: Option<String>,
    /// Number of recent conversations to list (summaries only, no full message content). Defaults to 10.
    #[schemars(range(min = 1, max = 100))]
    list_recent: Option<f64>,
    /// With conversation_id: the message to start at. A long conversation's answer gives it as nextMessage.
    #[schemars(range(min = 1))]
    from_message: Option<i64>,
    /// Whose conversations. Default: this server's recipient.
    recipient_id: Option<String>,
}

/// One conversation, or a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("type" = "object"))] // clients require this
pub enum Answer {
    /// A conversation with its messages.
    One(One),
    /// Conversations without their messages.
    Recent(Recent),
}

/// A conversation with its messages.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct One {
    #[serde(flatten)]
    listed: Listed,
    /// What user and assistant said, the oldest first.
    messages: Vec<Message>,
    /// If there was no room for all messages: the number of the next one, for from_message.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_message: Option<i64>,
}

/// Conversations that ended, the newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recent {
    /// The conversations, without their messages.
    conversations: Vec<Listed>,
}

impl Tool for GetConversation {
    const NAME: &'static str = "get_conversation";
    const TITLE: &'static str = "Read past conversations";
    const DESCRIPTION: &'static str = "Retrieve past conversation details. Use with conversation_id to get a specific \
         conversation's full history, or use list_recent to get summaries of recent conversations. Only completed \
         conversations are accessible (not the current active one).";
    const EFFECT: Effect = Effect::Reads;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[("conversation_id", &["id"]), ("list_recent", &["limit", "count", "recent"])];
    type Arguments = Arguments;
    type Answer = Answer;

    /// Some models write `true` for "list them".
    fn reshape(given: &mut JsonObject) {
        given.retain(|name, value| name != "list_recent" || !value.is_boolean());
    }

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Answer>, Fault> {
        let answer = match arguments.conversation_id.as_deref() {
            None | Some("") => Answer::Recent(recent(memory, arguments).await?),
            Some(id) => Answer::One(one(memory, id, arguments.from_message).await?),
        };
        Ok(Told::as_json(answer))
    }
}

async fn one(memory: &Memory, id: &str, from: Option<i64>) -> Result<One, Fault> {
    let first = usize::try_from(from.unwrap_or(1)).ok().filter(|first| *first > 0);
    let first = first.ok_or_else(|| Fault::Wrong("from_message: must be 1 or more.".into()))?;
    let read = transcript::read(memory, id, first, ANSWER_BYTES).await?;
    if read.conversation.status() != ConversationStatus::Closed {
        return Err(Fault::Wrong(format!(
            "Conversation {id} has not ended, and only completed conversations are read here.\nNext: call remember or \
             build_context with this conversation_id to read it, or end_conversation if it is over."
        )));
    }
    let next_message = read.next.and_then(|next| i64::try_from(next).ok());
    Ok(One { listed: Listed::from(&read.conversation), messages: read.messages, next_message })
}

async fn recent(memory: &Memory, arguments: Arguments) -> Result<Recent, Fault> {
    let wanted = arguments.list_recent.unwrap_or(RECENT);
    if !(1.0..=MOST_RECENT).contains(&wanted) || wanted.fract() != 0.0 {
        return Err(Fault::Wrong(format!("list_recent: is {wanted}; accepted: 1 to {MOST_RECENT}.")));
    }
    let request = ListConversationsRequest {
        recipient_id: memory.recipient(arguments.recipient_id),
        status: ConversationStatus::Closed.into(),
        page_size: wanted as i32,
        ..Default::default()
    };
    let response = memory.server.conversations().list_conversations(request).await?.into_inner();
    Ok(Recent { conversations: response.conversations.iter().map(Listed::from).collect() })
}
