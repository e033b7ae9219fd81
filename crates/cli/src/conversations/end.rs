//! `utterd end`: ends a conversation.

use clap::Args;

use crate::{args::Target, client::Connection, errors::CliError};
use utterd_rpc::proto::{Conversation, EndConversationRequest};

/// End a conversation
///
/// The conversation gets a title and a closing summary. The recipient's next message starts another one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd end
  utterd end trip --reason 'task completed'")]
pub struct End {
    #[command(flatten)]
    pub target: Target,
    /// Wait until a model has written the title and the closing summary, if the server has a model
    #[arg(long)]
    pub wait: bool,
    /// Why the conversation ends
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
}

/// Ends a conversation, and prints its title and closing summary.
pub async fn end(args: End) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let request = EndConversationRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        reason: args.reason,
        wait_for_llm: args.wait,
        ..Default::default()
    };
    let response = connection.conversations().end_conversation(request).await?.into_inner();
    args.target.json.answer(response, |output, response| {
        output.prose(&describe(&response.conversation.unwrap_or_default()))
    })
}

/// The id, the title and the closing summary of a conversation that has ended.
pub fn describe(conversation: &Conversation) -> String {
    let texts = [&conversation.title, &conversation.closing_summary];
    let texts: String =
        texts.iter().filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).collect();
    format!("ended {}{texts}", conversation.conversation_id)
}
