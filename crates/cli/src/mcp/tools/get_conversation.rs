//! `get_conversation`, as seed 000 words it.

use rmcp::{
    model::JsonObject,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    conversations::stored,
    mcp::{
        bounds::ANSWER_BYTES,
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
        transcript::{self, written},
    },
};
use utterd_rpc::proto::{Conversation, ConversationStatus, ListConversationsRequest};

/// Conversations in a list, by default.
const RECENT: f64 = 10.0;
/// The most conversations in a list: some 20,000 tokens of titles and summaries.
const MOST_RECENT: f64 = 100.0;

/// Reads conversations that have ended.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetConversation {
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

impl Tool for GetConversation {
    const NAME: &'static str = "get_conversation";
    const TITLE: &'static str = "Read past conversations";
    const DESCRIPTION: &'static str = "Retrieve past conversation details. Use with conversation_id to get a specific \
         conversation's full history, or use list_recent to get summaries of recent conversations. Only completed \
         conversations are accessible (not the current active one).";
    const EFFECT: Effect = Effect::Reads;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[("conversation_id", &["id"]), ("list_recent", &["limit", "count", "recent"])];

    /// Some models write `true` for "list them".
    fn reshape(given: &mut JsonObject) {
        given.retain(|name, value| name != "list_recent" || !value.is_boolean());
    }

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let json = match self.conversation_id.as_deref() {
            None | Some("") => recent(memory, self).await?,
            Some(id) => one(memory, id, self.from_message).await?,
        };
        Ok(Answer { text: json.to_string(), json })
    }
}

/// A conversation with its messages.
async fn one(memory: &Memory, id: &str, from: Option<i64>) -> Result<Value, Fault> {
    let first = usize::try_from(from.unwrap_or(1)).ok().filter(|first| *first > 0);
    let first = first.ok_or_else(|| Fault::Wrong("from_message: must be 1 or more.".into()))?;
    let conversation = stored::conversation(&memory.server, id, "").await?;
    if conversation.status() != ConversationStatus::Closed {
        return Err(Fault::Wrong(format!(
            "Conversation {id} has not ended, and only completed conversations are read here.\nNext: call remember or \
             build_context with this conversation_id to read it, or end_conversation if it is over."
        )));
    }
    let read = transcript::read(memory, id, first, ANSWER_BYTES).await?;
    let mut one = listed(&conversation);
    one["messages"] = Value::Array(read.messages);
    if let Some(next) = read.next {
        one["nextMessage"] = next.into();
    }
    Ok(one)
}

/// Conversations that ended, the newest first, without their messages.
async fn recent(memory: &Memory, arguments: GetConversation) -> Result<Value, Fault> {
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
    Ok(json!({ "conversations": response.conversations.iter().map(listed).collect::<Vec<_>>() }))
}

fn listed(conversation: &Conversation) -> Value {
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    json!({
        "id": conversation.conversation_id,
        "title": some(&conversation.title),
        "summary": some(&conversation.closing_summary),
        "startedAt": written(conversation.start_time.as_ref()),
        "endedAt": conversation.end_time.as_ref().map(ToString::to_string),
        "messageCount": conversation.utterance_count(),
    })
}
