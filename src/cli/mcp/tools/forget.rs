//! `forget`: forgets what an instruction selects, once that is confirmed.

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use crate::{
    cli::{
        mcp::{
            fault::Fault,
            memory::Memory,
            tool::{Effect, Told, Tool},
        },
        messages::forget::describe,
        terminal::text::role,
    },
    proto::{Capacity, ForgetMode, ForgetRequest, ForgetResponse, GetCapacityInfoRequest, UtteranceRef},
};

/// Forgets messages.
pub struct Forget;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What to forget: `oldest`, `newest`, `last:N`, `turn:N`, `before:turn_N`, `speaker:ROLE`, `sequence:N-M`, `id:ID`, `since:TIME`, `about:TEXT`, `all`; several of them together; `A or B`; `A except B`; or the same in plain English, such as "the last three messages".
    instructions: String,
    /// Whether to forget now. Without it nothing is forgotten, and the answer says what would be.
    confirm: Option<bool>,
    /// Whether to forget for good, from the summary too. Without it what is forgotten can be restored.
    hard: Option<bool>,
    /// With confirm: the revision from the answer without confirm. If the conversation has changed since, nothing is forgotten.
    expected_revision: Option<i64>,
    /// The conversation. By default the recipient's current one.
    conversation_id: Option<String>,
    /// The conversation's recipient. By default this server's recipient.
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
    /// The messages; an exchange with tools is forgotten whole.
    messages: Vec<Message>,
    /// Anything else to know.
    warnings: Vec<String>,
}

/// A message that is forgotten, or would be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id.
    utterance_id: String,
    /// Its number in the conversation, from 1.
    sequence: i64,
    /// Who said it.
    role: String,
}

impl Tool for Forget {
    const NAME: &'static str = "forget";
    const TITLE: &'static str = "Forget messages";
    const DESCRIPTION: &'static str = "Forget messages of a conversation, when the user asks for it. Call it without \
         confirm first: it then changes nothing and says what would be forgotten. Tell the user, and call it again with \
         confirm true once they agree.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = Arguments;
    type Answer = Forgotten;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Forgotten>, Fault> {
        let done = arguments.confirm.unwrap_or_default();
        let hard = arguments.hard.unwrap_or_default();
        let (conversation_id, recipient_id) =
            memory.address(arguments.conversation_id, arguments.recipient_id);
        // a later confirmation forgets exactly what is selected now, or nothing
        let request = GetCapacityInfoRequest { conversation_id, recipient_id, ..Default::default() };
        let capacity = memory.server().memory().get_capacity_info(request).await?.into_inner().capacity;
        let Capacity { conversation_id, recipient_id, revision, .. } = capacity.unwrap_or_default();
        let request = ForgetRequest {
            conversation_id,
            recipient_id,
            instructions: arguments.instructions,
            mode: if hard { ForgetMode::Hard } else { ForgetMode::Soft }.into(),
            dry_run: !done,
            expected_revision: arguments.expected_revision,
            ..Default::default()
        };
        let response = memory.server().memory().forget(request).await?.into_inner();
        let revision = if done { response.revision } else { revision };
        Ok(Told { text: text(&response, done, revision), answer: answer(response, done, revision) })
    }
}

fn answer(response: ForgetResponse, done: bool, revision: i64) -> Forgotten {
    let hard = response.mode() == ForgetMode::Hard;
    let message = |it: &UtteranceRef| Message {
        utterance_id: it.utterance_id.clone(),
        sequence: it.sequence,
        role: role(it.role()),
    };
    Forgotten {
        done,
        messages: response.forgotten.iter().map(message).collect(),
        conversation_id: response.conversation_id,
        revision,
        understood_as: response.understood_as,
        hard,
        warnings: response.warnings.into_iter().map(|warning| warning.text).collect(),
    }
}

fn text(response: &ForgetResponse, done: bool, revision: i64) -> String {
    let mut text = describe(response, !done).join("\n");
    if !done && !response.forgotten.is_empty() {
        text += &format!(
            "\nNothing is forgotten yet. To do it, call forget again with the same arguments, conversation_id {}, \
             expected_revision {revision} and confirm true.",
            response.conversation_id
        );
    }
    text
}
