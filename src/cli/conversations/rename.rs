//! `utterd rename`: changes the title of a conversation.

use clap::Args;
use prost_types::FieldMask;

use crate::cli::{
    args::{Target, required},
    client::Connection,
    errors::CliError,
    terminal::text::visible,
};
use crate::proto::{UpdateConversationRequest, UpdateConversationResponse};

/// Change the title of a conversation
///
/// Its id stays the same.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: utterd rename trip 'A weekend in Lisbon'",
    override_usage = "utterd rename [OPTIONS] [CONVERSATION] <TITLE>"
)]
pub struct Rename {
    #[command(flatten)]
    target: Target,
    /// The new title; '' removes the title
    title: Option<String>,
}

/// Sets the title.
pub async fn rename(Rename { mut target, title }: Rename) -> Result<(), CliError> {
    let [title] = target.split([title]);
    let title = required(title, "TITLE")?;
    let connection = Connection::open(&target).await?;
    let request = UpdateConversationRequest {
        conversation_id: target.conversation(),
        recipient_id: target.recipient,
        title,
        update_mask: Some(FieldMask { paths: vec!["title".into()] }),
        ..Default::default()
    };
    let response = connection.conversations().update_conversation(request).await?.into_inner();
    target
        .json
        .answer("UpdateConversationResponse", response, |output, response| output.line(&describe(response)))
}

fn describe(response: UpdateConversationResponse) -> String {
    let conversation = response.conversation.unwrap_or_default();
    match visible(&conversation.title) {
        none if none.is_empty() => format!("{} has no title", conversation.conversation_id),
        title => format!("{} is now called {title:?}", conversation.conversation_id),
    }
}
