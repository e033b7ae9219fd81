//! `utterd delete`: deletes a conversation.

use std::io::{self, IsTerminal, Write};

use clap::Args;

use super::stored::conversation;
use crate::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::{counted, note},
};
use utterd_rpc::proto::DeleteConversationRequest;
use utterd_telemetry::terminal::stderr;

/// Delete a conversation for good
///
/// Asks first: type the conversation's id to confirm.
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd delete trip")]
pub struct Delete {
    #[command(flatten)]
    remote: Remote,
    /// The conversation
    #[arg(value_name = "CONVERSATION")]
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
    args.json.answer(response, |output, response| {
        let removed = counted(response.utterance_count(), "utterance");
        output.line(&format!("removed {id} with {removed}"))
    })
}

/// `trip with 38 utterances`.
async fn content(connection: &Connection, id: &str) -> Result<String, CliError> {
    let stored = conversation(connection, id, "").await?.utterance_count();
    Ok(format!("{id} with {}", counted(stored, "utterance")))
}

/// Asks whether to remove `what`, such as `2 conversations of ben`; the person confirms by typing `name`.
fn confirmed(what: &str, name: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        let text = "stdin is not a terminal, so nobody can confirm: give --yes to remove without a question";
        return Err(CliError::Usage(text.to_owned()));
    }
    let mut terminal = stderr();
    write!(terminal, "Remove {what} for good? Type {name} to confirm: ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let is_confirmed = answer.trim_end_matches(['\r', '\n']) == name;
    if !is_confirmed {
        note("nothing was removed");
    }
    Ok(is_confirmed)
}
