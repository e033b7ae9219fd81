//! `get_capacity_info`: reports how full a window is.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    mcp::tool::{Effect, Fault, Memory, Told, Tool},
    messages::capacity::describe,
    terminal::word,
};
use utterd_rpc::proto::{self, GetCapacityInfoRequest};

/// Reports how full a window is.
pub struct GetCapacityInfo;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
}

/// How full a window is. If a maximum and what is available are absent, there is no limit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    /// The conversation; empty when the recipient has none yet.
    conversation_id: String,
    /// The conversation's recipient.
    recipient_id: String,
    /// The conversation's status: `active`, `awaiting answer`, `idle` or `closed`; empty when there is none.
    status: String,
    /// Its revision.
    revision: i64,
    /// Messages in the window.
    utterance_count: i64,
    /// The most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_utterances: Option<i64>,
    /// How many more fit before older ones leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    available_utterances: Option<i64>,
    /// Tokens in the window.
    token_count: i64,
    /// The most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<i64>,
    /// How many more fit before older messages leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    available_tokens: Option<i64>,
    /// Turns in the window.
    turn_count: i64,
    /// Whether the window is above a limit, because what is in it cannot leave.
    over_limit: bool,
    /// Messages that left the window and are still stored.
    archived_utterance_count: i64,
    /// Tokens of the summary of what left the window.
    summary_token_count: i64,
    /// Whether the conversation has become long enough to be compacted.
    compaction_advised: bool,
}

impl Tool for GetCapacityInfo {
    const NAME: &'static str = "get_capacity_info";
    const TITLE: &'static str = "See how full the window is";
    const DESCRIPTION: &'static str = "Report how full a conversation's window is, and what has left it.";
    const EFFECT: Effect = Effect::Reads;
    const IS_USUAL: bool = false;
    const RARE: &'static [&'static str] = &["recipient_id"];
    type Arguments = Arguments;
    type Answer = Capacity;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Capacity>, Fault> {
        let (conversation_id, recipient_id) =
            memory.address(arguments.conversation_id, arguments.recipient_id).await?;
        let request = GetCapacityInfoRequest { conversation_id, recipient_id, ..Default::default() };
        let response = memory.server.memory().get_capacity_info(request).await?.into_inner();
        let capacity = response.capacity.unwrap_or_default();
        Ok(Told { text: describe(&capacity), answer: capacity.into() })
    }
}

impl From<proto::Capacity> for Capacity {
    fn from(capacity: proto::Capacity) -> Self {
        let summary = capacity.summary.unwrap_or_default();
        let status = match capacity.conversation_id.is_empty() {
            true => String::new(),
            false => word(capacity.status().as_str_name(), "CONVERSATION_STATUS_"),
        };
        Self {
            status,
            revision: capacity.revision,
            utterance_count: capacity.utterance_count().into(),
            max_utterances: capacity.max_utterances.map(Into::into),
            available_utterances: capacity.available_utterances.map(Into::into),
            token_count: capacity.token_count().into(),
            max_tokens: capacity.max_tokens.map(Into::into),
            available_tokens: capacity.available_tokens.map(Into::into),
            turn_count: capacity.turn_count().into(),
            over_limit: capacity.over_limit(),
            archived_utterance_count: capacity.archived_utterance_count().into(),
            summary_token_count: summary.token_count().into(),
            compaction_advised: capacity.compaction_advice.is_some(),
            conversation_id: capacity.conversation_id,
            recipient_id: capacity.recipient_id,
        }
    }
}
