//! `utterd create`: starts an empty conversation.

use clap::Args;

use crate::cli::{
    args::{Json, Preset, Remote},
    client::Connection,
    errors::CliError,
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
    remote: Remote,
    /// The id of the conversation [default: the server generates one]
    #[arg(id = "conversation_id", value_name = "CONVERSATION", default_value = "")]
    conversation: String,
    /// The recipient of the conversation [default: default]
    #[arg(id = "recipient_id", long = "recipient", short = 'r', value_name = "ID", default_value = "")]
    recipient: String,
    /// The title [default: found when the conversation ends]
    #[arg(long, default_value = "")]
    title: String,
    /// The limits to start from [default: those of the server]
    #[arg(long)]
    preset: Option<Preset>,
    #[command(flatten)]
    json: Json,
}

/// Creates a conversation, and prints its id.
pub async fn create(args: Create) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let request = CreateConversationRequest {
        conversation_id: args.conversation,
        recipient_id: args.recipient,
        title: args.title,
        policy: args.preset.map(|preset| Policy { preset: preset.wire().into(), ..Default::default() }),
        ..Default::default()
    };
    let response = connection.conversations().create_conversation(request).await?.into_inner();
    args.json
        .answer("CreateConversationResponse", response, |output, response| output.line(&describe(response)))
}

fn describe(response: CreateConversationResponse) -> String {
    let conversation = response.conversation.unwrap_or_default();
    let active = if conversation.active { ", the active conversation of " } else { " for " };
    format!("created {}{active}{}", conversation.conversation_id, conversation.recipient_id)
}
