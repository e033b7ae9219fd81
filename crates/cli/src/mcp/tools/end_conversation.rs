//! `end_conversation`, as seed 000 words it.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::{
    conversations::end::describe,
    mcp::tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
};
use utterd_rpc::proto::EndConversationRequest;

/// Ends a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EndConversation {
    /// Optional reason for ending (e.g., 'task completed', 'user requested')
    reason: Option<String>,
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
}

impl Tool for EndConversation {
    const NAME: &'static str = "end_conversation";
    const TITLE: &'static str = "End the conversation";
    const DESCRIPTION: &'static str = "End the current conversation and generate a summary. Use this when a topic is \
         concluded, the user indicates they're done, or when moving to an unrelated topic.";
    const EFFECT: Effect = Effect::Adds;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[("conversation_id", &["id"])];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let (conversation_id, recipient_id) = memory.address(self.conversation_id, self.recipient_id).await?;
        let request = EndConversationRequest {
            conversation_id,
            recipient_id,
            reason: self.reason.unwrap_or_default(),
            request_id: memory.request_id.clone(),
            ..Default::default()
        };
        let response = memory.server.conversations().end_conversation(request).await?.into_inner();
        let ended = response.conversation.clone().unwrap_or_default();
        Answer::new(&response, describe(&ended) + "\nWhat is memorized next starts another conversation.")
    }
}
