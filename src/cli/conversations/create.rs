//! `utterd create`: starts an empty conversation.

use clap::Args;

use crate::cli::{
    args::{Preset, Target},
    client::Connection,
    errors::CliError,
    terminal::output::Output,
};
use crate::proto::{CreateConversationRequest, CreateConversationResponse, Policy};

/// Start an empty conversation
///
/// It becomes the recipient's active conversation, unless there is one already. `memorize` starts conversations too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd create trip --title 'A weekend in Lisbon' --recipient anna
  utterd create --preset session")]
pub struct Create {
    #[command(flatten)]
    target: Target,
    /// The title [default: found when the conversation ends]
    #[arg(long, default_value = "", hide_default_value = true)]
    title: String,
    /// The limits to start from [default: those of the server]
    #[arg(long)]
    preset: Option<Preset>,
}

/// Creates a conversation, and prints its id.
pub async fn create(args: Create) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let request = CreateConversationRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        title: args.title,
        policy: args.preset.map(|preset| Policy { preset: preset.number(), ..Default::default() }),
        ..Default::default()
    };
    let response = connection.conversations().create_conversation(request).await?.into_inner();
    let mut output = Output::new();
    match args.target.json {
        true => output.json("CreateConversationResponse", &response)?,
        false => output.line(&describe(response))?,
    }
    Ok(output.flush()?)
}

fn describe(response: CreateConversationResponse) -> String {
    let conversation = response.conversation.unwrap_or_default();
    let active = if conversation.active { ", the active conversation of " } else { " for " };
    format!("created {}{active}{}", conversation.conversation_id, conversation.recipient_id)
}
