//! `utterd fork`: starts a conversation from another one.

use clap::Args;

use crate::cli::{args::Target, client::Connection, errors::CliError, terminal::text::counted};
use crate::proto::{ForkConversationRequest, ForkConversationResponse};

/// Start a conversation from a part of another
///
/// The fork shares the utterances up to a point, which are stored only once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd fork --activate
  utterd fork trip --at 12 --id trip-2 --to alice")]
pub struct Fork {
    #[command(flatten)]
    pub target: Target,
    /// The number of the last utterance that both share [default: the newest]
    #[arg(id = "at_sequence", long = "at", value_name = "N", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// The fork's id [default: the server generates one]
    #[arg(id = "new_conversation_id", long = "id", value_name = "ID", default_value = "")]
    pub id: String,
    /// The fork's recipient [default: the same recipient]
    #[arg(id = "to_recipient_id", long = "to", value_name = "RECIPIENT", default_value = "")]
    pub to: String,
    /// The fork's title [default: the same title]
    #[arg(long, default_value = "")]
    pub title: String,
    /// Make the fork the recipient's active conversation, even if there is one already
    #[arg(long)]
    pub activate: bool,
}

/// Forks a conversation, and prints the fork's id and what it shares.
pub async fn fork(args: Fork) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let request = ForkConversationRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        at_sequence: args.at,
        new_conversation_id: args.id,
        to_recipient_id: args.to,
        title: args.title,
        activate: args.activate,
        ..Default::default()
    };
    let response = connection.conversations().fork_conversation(request).await?.into_inner();
    args.target
        .json
        .answer("ForkConversationResponse", response, |output, response| output.prose(&describe(&response)))
}

/// `forked demo at 4 into 01M7… (4 utterances), the active conversation of alice`
fn describe(response: &ForkConversationResponse) -> String {
    let fork = response.conversation.clone().unwrap_or_default();
    let from = fork.forked_from.clone().unwrap_or_default();
    let active = match fork.active {
        true => format!(", the active conversation of {}", fork.recipient_id),
        false => String::new(),
    };
    let shared = counted(fork.utterance_count(), "utterance");
    let (parent, at, id) = (from.conversation_id, from.sequence.unwrap_or_default(), fork.conversation_id);
    format!("forked {parent} at {at} into {id} ({shared}){active}")
}
