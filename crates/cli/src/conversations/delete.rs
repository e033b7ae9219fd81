//! `utterd delete`: deletes a conversation.

use clap::Args;

use super::confirm::confirmed;
use crate::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::text::{counted, visible},
};
use utterd_rpc::proto::{DeleteConversationRequest, GetConversationRequest};

/// Delete a conversation for good
///
/// Asks first: type the conversation's id to confirm.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd delete trip")]
pub struct Delete {
    #[command(flatten)]
    remote: Remote,
    /// The conversation
    #[arg(id = "conversation_id", value_name = "CONVERSATION")]
    conversation: String,
    /// Delete without asking
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: Json,
}

/// Asks for confirmation, unless `--yes` is given, and deletes.
pub async fn delete(args: Delete) -> Result<(), CliError> {
    let (connection, id) = (Connection::to(&args.remote).await?, args.conversation);
    if !args.yes && !confirmed(&content(&connection, &id).await?, &id)? {
        return Ok(());
    }
    let request = DeleteConversationRequest { conversation_id: id.clone(), ..Default::default() };
    let response = connection.conversations().delete_conversation(request).await?.into_inner();
    args.json.answer("DeleteConversationResponse", response, |output, response| {
        let removed = counted(response.utterance_count(), "utterance");
        output.line(&format!("removed {} with {removed}", visible(&id)))
    })
}

/// `trip with 38 utterances`.
async fn content(connection: &Connection, id: &str) -> Result<String, CliError> {
    let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    let response = connection.conversations().get_conversation(request).await?.into_inner();
    let stored = response.conversation.unwrap_or_default().utterance_count();
    Ok(format!("{} with {}", visible(id), counted(stored, "utterance")))
}
