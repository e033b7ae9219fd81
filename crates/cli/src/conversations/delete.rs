//! `utterd delete`: deletes a conversation.

use clap::Args;

use super::stored::conversation;
use crate::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::counted,
};
use utterd_rpc::proto::DeleteConversationRequest;

/// Delete a conversation for good
///
/// Without --yes, only says what would be deleted.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd delete trip --yes")]
pub struct Delete {
    #[command(flatten)]
    remote: Remote,
    /// The conversation
    #[arg(value_name = "CONVERSATION")]
    conversation: String,
    /// Delete it
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: Json,
}

/// Deletes, or says what would be deleted.
pub async fn delete(args: Delete) -> Result<(), CliError> {
    let (connection, id) = (Connection::to(&args.remote).await?, args.conversation);
    if !args.yes {
        let stored = conversation(&connection, &id, "").await?.utterance_count();
        let text =
            format!("{id} and its {} would be removed for good: give --yes", counted(stored, "utterance"));
        return Err(CliError::Usage(text));
    }
    let request = DeleteConversationRequest { conversation_id: id.clone(), ..Default::default() };
    let response = connection.conversations().delete_conversation(request).await?.into_inner();
    args.json.answer(response, |output, response| {
        let removed = counted(response.utterance_count(), "utterance");
        output.line(&format!("removed {id} with {removed}"))
    })
}
