//! `utterd delete-recipient`: removes everything stored for a recipient.

use std::io::{self, IsTerminal, Write};

use clap::Args;

use crate::cli::{
    args::Target,
    client::Connection,
    errors::CliError,
    terminal::{
        output::{Output, note},
        text::{counted, visible},
    },
};
use crate::proto::{DeleteRecipientRequest, GetStatsRequest, StatsScope};

/// Remove everything stored for a recipient, for good
#[derive(Debug, Args)]
#[command(after_help = "Example: utterd delete-recipient --recipient alice")]
pub struct DeleteRecipient {
    #[command(flatten)]
    pub target: Target,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

/// Asks for confirmation, unless `--yes` is given, and removes.
pub async fn delete_recipient(args: DeleteRecipient) -> Result<(), CliError> {
    let target = args.target;
    if target.recipient.is_empty() || !target.conversation.is_empty() {
        let text = "give --recipient ID alone: everything stored for that recipient is removed";
        return Err(CliError::Usage(text.to_owned()));
    }
    let connection = Connection::open(&target).await?;
    if !args.yes && !confirmed(&connection, &target.recipient).await? {
        note("nothing was removed");
        return Ok(());
    }
    let request = DeleteRecipientRequest { recipient_id: target.recipient };
    let response = connection.conversations().delete_recipient(request).await?.into_inner();
    let mut output = Output::new();
    if target.json {
        output.json("DeleteRecipientResponse", &response)?;
    } else {
        output.line(&format!(
            "removed {} with {}",
            counted(response.conversation_count(), "conversation"),
            counted(response.utterance_count(), "utterance")
        ))?;
    }
    Ok(output.flush()?)
}

/// Asks the person at the terminal to type the recipient's name, and returns whether it matches.
async fn confirmed(connection: &Connection, recipient: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        let text =
            "cannot ask for confirmation, because stdin is not a terminal: give --yes to remove anyway";
        return Err(CliError::Usage(text.to_owned()));
    }
    let request = GetStatsRequest {
        recipient_id: recipient.to_owned(),
        scope: StatsScope::Recipient.into(),
        ..Default::default()
    };
    let stats = connection.conversations().get_stats(request).await?.into_inner().stats.unwrap_or_default();
    let conversations: i32 = stats.conversations.iter().map(|of| of.conversation_count()).sum();
    let name = visible(recipient);
    let mut terminal = io::stderr();
    write!(
        terminal,
        "Remove {} of {name}, for good? Type {name} to confirm: ",
        counted(conversations, "conversation")
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim_end_matches(['\r', '\n']) == recipient)
}
