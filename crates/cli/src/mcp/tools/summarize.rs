//! `summarize`: summarises a conversation.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::{
    args::choice,
    mcp::{
        bounds::SUMMARY_TOKENS,
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
    },
};
use utterd_rpc::proto::SummarizeRequest;

/// Summarises a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Summarize {
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
    /// `all`; `recent`: the last recent_count messages; `evicted`: what is no longer in view; `turns`: from first_turn to last_turn. Default: all.
    scope: Option<Scope>,
    /// For scope recent: how many messages.
    #[schemars(range(min = 1))]
    recent_count: Option<i32>,
    /// For scope turns. A turn is a user's message and what follows it.
    #[schemars(range(min = 0))]
    first_turn: Option<i32>,
    /// For scope turns: the last one.
    #[schemars(range(min = 0))]
    last_turn: Option<i32>,
    /// The most tokens of the summary. Default: 1000.
    #[schemars(range(min = 1))]
    token_limit: Option<i32>,
    /// Words whose sentences come first.
    focus_areas: Option<Vec<String>>,
    /// Let the server's model write it, if it has one, which takes seconds.
    wait_for_llm: Option<bool>,
}

choice! {
    /// What to summarise.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Scope means SummarizeScope {
        All = All,
        Recent = Recent,
        Evicted = Evicted,
        Turns = Turns,
    }
}

impl Tool for Summarize {
    const NAME: &'static str = "summarize";
    const TITLE: &'static str = "Summarize a conversation";
    const DESCRIPTION: &'static str = "Summarise a conversation or a part of it. Changes nothing.";
    const EFFECT: Effect = Effect::Reads;
    const IS_USUAL: bool = false;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[
        ("focus_areas", &["focus"]),
        ("token_limit", &["max_tokens", "limit"]),
        ("recent_count", &["count"]),
    ];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let (conversation_id, recipient_id) = memory.address(self.conversation_id, self.recipient_id).await?;
        let request = SummarizeRequest {
            conversation_id,
            recipient_id,
            scope: self.scope.unwrap_or(Scope::All).wire().into(),
            recent_count: self.recent_count,
            first_turn: self.first_turn,
            last_turn: self.last_turn,
            token_limit: self.token_limit.or(Some(SUMMARY_TOKENS)),
            focus_areas: self.focus_areas.unwrap_or_default(),
            wait_for_llm: self.wait_for_llm.unwrap_or_default(),
            ..Default::default()
        };
        let response = memory.server.memory().summarize(request).await?.into_inner();
        let warnings = response.warnings.iter().map(|warning| &*warning.text);
        let text = match (&*response.text, warnings.collect::<Vec<_>>().join("\n")) {
            ("", none) if none.is_empty() => "There is nothing to summarise.".to_owned(),
            ("", warnings) => warnings,
            (text, _) => text.to_owned(),
        };
        Answer::new(&response, text)
    }
}
