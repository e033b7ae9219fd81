//! `forget`: forgets what an instruction selects, once that is confirmed.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::reference::Reference;
use crate::{
    mcp::{
        bounds::LISTED,
        tool::{Aliases, Effect, Fault, Memory, Told, Tool},
    },
    messages::forget::describe,
};
use utterd_rpc::proto::{Capacity, ForgetMode, ForgetRequest, ForgetResponse, GetCapacityInfoRequest};

/// Forgets messages.
pub struct Forget;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to forget, in plain English ("the last three messages", "what I said about Paris yesterday") or as `last:N`, `turn:N`, `sequence:N-M`, `speaker:ROLE`, `since:TIME`, `about:TEXT`, `all`, `A or B`, `A except B`.
    instructions: String,
    /// Forget now. Without it, the answer only says what would be forgotten.
    confirm: Option<bool>,
    /// For good, from summaries too. Without it, it can be restored.
    hard: Option<bool>,
    /// With confirm: the revision in the answer without confirm. If the conversation has changed since, nothing is forgotten.
    expected_revision: Option<i64>,
    /// Default: the current conversation.
    conversation_id: Option<String>,
    /// Whose conversation. Default: this server's recipient.
    recipient_id: Option<String>,
}

/// What was forgotten, or would be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forgotten {
    /// Whether it was done; false if this only says what would be forgotten.
    done: bool,
    /// The conversation.
    conversation_id: String,
    /// The conversation's revision: after the change, or, if nothing was done, the one to confirm with.
    revision: i64,
    /// The instructions as they were understood, in their short form.
    understood_as: String,
    /// Whether it is for good.
    hard: bool,
    /// The messages, at most the first 500; an exchange with tools is forgotten whole.
    messages: Vec<Reference>,
    /// Anything else to know.
    warnings: Vec<String>,
}

impl Tool for Forget {
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Forget messages";
    const DESCRIPTION: &'static str = "Forget messages, when the user asks for it. First call it without confirm, which \
         changes nothing; tell the user what would be forgotten, and confirm once they agree.";
    const EFFECT: Effect = Effect::Changes;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[("instructions", &["instruction", "what"])];
    type Arguments = Arguments;
    type Answer = Forgotten;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Forgotten>, Fault> {
        let done = arguments.confirm.unwrap_or_default();
        let hard = arguments.hard.unwrap_or_default();
        let (conversation_id, recipient_id) =
            memory.address(arguments.conversation_id, arguments.recipient_id).await?;
        // a later confirmation forgets exactly what is selected now, or nothing
        let request = GetCapacityInfoRequest { conversation_id, recipient_id, ..Default::default() };
        let capacity = memory.server.memory().get_capacity_info(request).await?.into_inner().capacity;
        let Capacity { conversation_id, recipient_id, revision, .. } = capacity.unwrap_or_default();
        let request = ForgetRequest {
            conversation_id,
            recipient_id,
            instructions: arguments.instructions,
            mode: if hard { ForgetMode::Hard } else { ForgetMode::Soft }.into(),
            dry_run: !done,
            expected_revision: arguments.expected_revision,
            request_id: memory.request_id.clone(),
            ..Default::default()
        };
        let response = memory.server.memory().forget(request).await?.into_inner();
        let revision = if done { response.revision } else { revision };
        Ok(Told { text: text(&response, done, revision), answer: answer(response, done, revision) })
    }
}

fn answer(response: ForgetResponse, done: bool, revision: i64) -> Forgotten {
    let hard = response.mode() == ForgetMode::Hard;
    Forgotten {
        done,
        messages: response.forgotten.iter().take(LISTED).map(Reference::from).collect(),
        conversation_id: response.conversation_id,
        revision,
        understood_as: response.understood_as,
        hard,
        warnings: response.warnings.into_iter().map(|warning| warning.text).collect(),
    }
}

fn text(response: &ForgetResponse, done: bool, revision: i64) -> String {
    let mut text = describe(response, !done);
    if !done && !response.forgotten.is_empty() {
        text += &format!(
            "\nNothing is forgotten yet. To do it, call forget again with the same arguments, conversation_id {}, \
             expected_revision {revision} and confirm true.",
            response.conversation_id
        );
    }
    text
}
