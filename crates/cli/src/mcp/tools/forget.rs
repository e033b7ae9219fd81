//! `forget`: forgets what an instruction selects, once that is confirmed.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::{
    conversations::stored,
    mcp::{
        bounds::LISTED,
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
    },
    messages::forget::describe,
};
use utterd_rpc::proto::{Capacity, ForgetMode, ForgetRequest, ForgetResponse};

/// Forgets messages.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Forget {
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

impl Tool for Forget {
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Forget messages";
    const DESCRIPTION: &'static str = "Forget messages, when the user asks for it. First call it without confirm, which \
         changes nothing; tell the user what would be forgotten, and confirm once they agree.";
    const EFFECT: Effect = Effect::Changes;
    const RARE: &'static [&'static str] = &["recipient_id"];
    const ALIASES: Aliases = &[("instructions", &["instruction", "what"])];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let done = self.confirm.unwrap_or_default();
        let hard = self.hard.unwrap_or_default();
        let (conversation_id, recipient_id) = memory.address(self.conversation_id, self.recipient_id).await?;
        // a later confirmation forgets exactly what is selected now, or nothing
        let Capacity { conversation_id, recipient_id, revision, .. } =
            stored::capacity(&memory.server, conversation_id, recipient_id).await?;
        let request = ForgetRequest {
            conversation_id,
            recipient_id,
            instructions: self.instructions,
            mode: if hard { ForgetMode::Hard } else { ForgetMode::Soft }.into(),
            dry_run: !done,
            expected_revision: self.expected_revision,
            request_id: memory.request_id.clone(),
            ..Default::default()
        };
        let mut response = memory.server.memory().forget(request).await?.into_inner();
        if !done {
            response.revision = revision;
        }
        let text = text(&response, done);
        response.forgotten.truncate(LISTED);
        Answer::new(&response, text)
    }
}

fn text(response: &ForgetResponse, done: bool) -> String {
    let mut text = describe(response, !done);
    if !done && !response.forgotten.is_empty() {
        text += &format!(
            "\nNothing is forgotten yet. To do it, call forget again with the same arguments, conversation_id {}, \
             expected_revision {} and confirm true.",
            response.conversation_id, response.revision
        );
    }
    text
}
