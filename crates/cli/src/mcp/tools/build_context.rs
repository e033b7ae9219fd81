//! `build_context`: builds what a model should see of a conversation.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::{
    args::choice,
    mcp::{
        bounds::CONTEXT_TOKENS,
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
    },
};
use utterd_rpc::proto::{BuildContextRequest, BuildContextResponse, ContextRecall, Earlier, RememberScope};

/// Builds a context.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BuildContext {
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
    /// `text`, or messages for a model's API. Default: text.
    format: Option<Format>,
    /// The most tokens. Default: 9064.
    #[schemars(range(min = 1))]
    token_budget: Option<i32>,
    /// The most turns, the newest. A turn is a user's message and what follows it.
    #[schemars(range(min = 0))]
    max_turns: Option<i32>,
    /// Also adds what is found about this elsewhere, and in past conversations.
    recall: Option<String>,
    /// Put first, and not stored.
    instructions: Option<String>,
}

choice! {
    /// The format of a context.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Format means ContextFormat {
        Text = Text,
        OpenaiChat = OpenaiChat,
        AnthropicMessages = AnthropicMessages,
    }
}

impl Tool for BuildContext {
    const NAME: &'static str = "build_context";
    const TITLE: &'static str = "Build a context";
    const DESCRIPTION: &'static str = "Read where a conversation stands: its summary, how past conversations ended, and \
         its recent messages. Use it to continue a conversation, or to hand it to another agent.";
    const EFFECT: Effect = Effect::Reads;
    const RARE: &'static [&'static str] = &["recipient_id", "format", "max_turns", "instructions"];
    const ALIASES: Aliases =
        &[("token_budget", &["budget", "max_tokens", "tokens"]), ("recall", &["query", "prompt"])];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let names = self.conversation_id.as_ref().is_some_and(|id| !id.is_empty());
        let (conversation_id, recipient_id) = memory.address(self.conversation_id, self.recipient_id).await?;
        let recall = self.recall.filter(|prompt| !prompt.is_empty()).map(|prompt| ContextRecall {
            prompt,
            scope: RememberScope::Recipient.into(),
            ..Default::default()
        });
        let format = self.format.unwrap_or(Format::Text).wire();
        let request = BuildContextRequest {
            conversation_id,
            recipient_id,
            format: format.into(),
            token_budget: self.token_budget.or(Some(CONTEXT_TOKENS)),
            max_turns: self.max_turns,
            recall,
            instructions: self.instructions.unwrap_or_default(),
            include_archive: self.token_budget.is_some(),
            earlier: if names { Earlier::Unspecified } else { Earlier::Ended }.into(),
            ..Default::default()
        };
        let response = memory.server.contexts().build_context(request).await?.into_inner();
        Answer::new(&response, text(&response))
    }
}

fn text(response: &BuildContextResponse) -> String {
    if response.conversation_id.is_empty() && response.text.is_empty() && response.messages_json.len() <= 2 {
        return "There is no conversation yet: memorize starts one.".into();
    }
    match (response.messages_json.as_str(), response.system_json.as_str()) {
        ("", _) => response.text.clone(),
        (messages, "") => messages.to_owned(),
        (messages, system) => format!("{{\"system\":{system},\"messages\":{messages}}}"),
    }
}
