//! `utterd fork`: starts another conversation with what was said in one.

use super::{args, client::Connection, errors::CliError, output::Output, text::counted};
use crate::proto::{ForkConversationRequest, ForkConversationResponse};

/// Forks a conversation, and tells what the fork is called and what it shares.
pub async fn fork(args: args::Fork) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let request = ForkConversationRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        at_sequence: args.at,
        new_conversation_id: args.id,
        to_recipient_id: args.to,
        title: args.title,
        activate: args.activate,
        ..Default::default()
    };
    let response = connection.conversations().fork_conversation(request).await?.into_inner();
    let mut output = Output::new();
    match args.target.json {
        true => output.json("ForkConversationResponse", &response)?,
        false => output.line(&describe(&response))?,
    }
    Ok(output.flush()?)
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
