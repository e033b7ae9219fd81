//! `summarize`: summarises a conversation.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    args::choice,
    mcp::{
        bounds::SUMMARY_TOKENS,
        tool::{Aliases, Effect, Fault, Memory, Told, Tool},
    },
    terminal::word,
};
use utterd_rpc::proto::{SummarizeRequest, SummarizeResponse};

/// Summarises a conversation.
pub struct Summarize;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
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

/// A summary.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The conversation.
    conversation_id: String,
    /// The summary; empty when there is nothing to summarise.
    text: String,
    /// Its tokens.
    token_count: i64,
    /// The tokens of what it was made from.
    source_token_count: i64,
    /// How it was made: `extractive`, from sentences as they were said, or `llm`, by a model.
    method: String,
    /// Anything else to know, such as why it is empty.
    warnings: Vec<String>,
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
    type Arguments = Arguments;
    type Answer = Summary;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Summary>, Fault> {
        let (conversation_id, recipient_id) =
            memory.address(arguments.conversation_id, arguments.recipient_id).await?;
        let request = SummarizeRequest {
            conversation_id,
            recipient_id,
            scope: arguments.scope.unwrap_or(Scope::All).wire().into(),
            recent_count: arguments.recent_count,
            first_turn: arguments.first_turn,
            last_turn: arguments.last_turn,
            token_limit: arguments.token_limit.or(Some(SUMMARY_TOKENS)),
            focus_areas: arguments.focus_areas.unwrap_or_default(),
            wait_for_llm: arguments.wait_for_llm.unwrap_or_default(),
            ..Default::default()
        };
        let response = memory.server.memory().summarize(request).await?.into_inner();
        let answer = Summary::from(response);
        let text = match answer.text.as_str() {
            "" if answer.warnings.is_empty() => "There is nothing to summarise.".to_owned(),
            "" => answer.warnings.join("\n"),
            text => text.to_owned(),
        };
        Ok(Told { answer, text })
    }
}

impl From<SummarizeResponse> for Summary {
    fn from(response: SummarizeResponse) -> Self {
        let told = response.warnings.iter().map(|warning| warning.text.clone());
        let llm = Some(response.llm_error.clone()).filter(|error| !error.is_empty());
        let llm = llm.map(|error| format!("no model wrote it: {error}"));
        Self {
            warnings: told.chain(llm).collect(),
            token_count: response.token_count().into(),
            source_token_count: response.source_token_count().into(),
            method: word(response.method().as_str_name(), "SUMMARY_METHOD_"),
            conversation_id: response.conversation_id,
            text: response.text,
        }
    }
}
