//! `utterd edit`: changes what an utterance says.

use clap::Args;
use prost_types::FieldMask;

use super::{
    memorize::content,
    which::{everything, named, select},
};
use crate::cli::{
    args::Target,
    client::Connection,
    conversations::stored,
    errors::CliError,
    terminal::{output::Output, text::counted},
};
use crate::proto::{EditMode, UpdateUtteranceRequest, UpdateUtteranceResponse};

/// Change the text of an utterance
///
/// Contexts, searches and the summary use the new text. The original is kept: `show --json` prints both.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  utterd edit 3 'The train leaves at ten.'
  utterd edit trip 3 - < answer.txt
  utterd edit trip 3 'And if I fly?' --fork",
    override_usage = "utterd edit [OPTIONS] [CONVERSATION] <UTTERANCE> [TEXT]"
)]
pub struct Edit {
    #[command(flatten)]
    target: Target,
    /// Leave the conversation unchanged, and make a fork that ends with the new text
    #[arg(id = "edit_mode", long = "fork")]
    fork: bool,
    /// The number of the utterance, as `show` prints it, or its id
    #[arg(id = "utterance_id", value_name = "UTTERANCE")]
    which: Option<String>,
    /// The new text; `-`, or no text, reads stdin
    #[arg(id = "content", value_name = "TEXT")]
    text: Option<String>,
}

/// Edits, and prints the result.
pub async fn edit(mut args: Edit) -> Result<(), CliError> {
    let [which, text] = args.target.split([args.which.take(), args.text.take()]);
    let which = named(which, "UTTERANCE")?;
    let content = content(text).await?;
    let connection = Connection::open(&args.target).await?;
    let conversation_id = stored::conversation(&connection, &args.target).await?.conversation_id;
    let mut named = select(everything(&connection, &conversation_id).await?, &which)?;
    let (Some(utterance), true) = (named.pop(), named.is_empty()) else {
        return Err(CliError::Usage("UTTERANCE: only one at a time can be edited".into()));
    };
    let mode = if args.fork { EditMode::Fork } else { EditMode::InPlace };
    let request = UpdateUtteranceRequest {
        conversation_id: conversation_id.clone(),
        utterance_id: utterance.utterance_id,
        content,
        edit_mode: mode.into(),
        update_mask: Some(FieldMask { paths: vec!["content".into()] }),
        ..Default::default()
    };
    let response = connection.conversations().update_utterance(request).await?.into_inner();
    args.target.json.answer("UpdateUtteranceResponse", response, |output, response| {
        tell(output, &conversation_id, &response)
    })
}

fn tell(output: &mut Output, conversation: &str, response: &UpdateUtteranceResponse) -> Result<(), CliError> {
    let utterance = response.utterance.clone().unwrap_or_default();
    let place = match response.forked_conversation_id.as_str() {
        "" => conversation.to_owned(),
        fork => format!("{fork}, a fork of {conversation}"),
    };
    let tokens = counted(utterance.token_count(), "token");
    output.line(&format!("edited {} of {place}: {tokens}", utterance.sequence))?;
    Ok(output.evicted(&response.evicted)?)
}
