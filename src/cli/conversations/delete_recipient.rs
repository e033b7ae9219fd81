//! `utterd delete-recipient`: deletes everything stored for a recipient.

use clap::Args;

use super::confirm::confirmed;
use crate::cli::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::text::{counted, visible},
};
use crate::proto::{DeleteRecipientRequest, GetStatsRequest, StatsScope};

/// Delete all that is stored for a recipient, for good
///
/// Asks first: type the recipient's id to confirm.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd delete-recipient ben")]
pub struct DeleteRecipient {
    #[command(flatten)]
    remote: Remote,
    /// The recipient
    #[arg(id = "recipient_id", value_name = "RECIPIENT")]
    recipient: String,
    /// Delete without asking
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: Json,
}

/// Asks for confirmation, unless `--yes` is given, and deletes.
pub async fn delete_recipient(args: DeleteRecipient) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    if !args.yes && !confirmed(&conversations(&connection, &args.recipient).await?, &args.recipient)? {
        return Ok(());
    }
    let request = DeleteRecipientRequest { recipient_id: args.recipient };
    let response = connection.conversations().delete_recipient(request).await?.into_inner();
    args.json.answer("DeleteRecipientResponse", response, |output, response| {
        output.line(&format!(
            "removed {} with {}",
            counted(response.conversation_count(), "conversation"),
            counted(response.utterance_count(), "utterance")
        ))
    })
}

/// `2 conversations of ben`.
async fn conversations(connection: &Connection, recipient: &str) -> Result<String, CliError> {
    let request = GetStatsRequest {
        recipient_id: recipient.to_owned(),
        scope: StatsScope::Recipient.into(),
        ..Default::default()
    };
    let stats = connection.conversations().get_stats(request).await?.into_inner().stats.unwrap_or_default();
    let conversations: i32 = stats.conversations.iter().map(|of| of.conversation_count()).sum();
    Ok(format!("{} of {}", counted(conversations, "conversation"), visible(recipient)))
}
