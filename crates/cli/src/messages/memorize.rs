//! `utterd memorize`: stores one utterance.

use std::io;

use clap::Args;

use crate::{
    args::{Json, Remote, Speaker},
    client::Connection,
    errors::CliError,
    terminal::{Output, counted, read::said, unless_interrupted},
};
use utterd_domain::limits::MOST_CONTENT_BYTES;
use utterd_rpc::proto::{MemorizeRequest, MemorizeResponse, NewUtterance, UtteranceRef};

/// Store an utterance
///
/// Starts a conversation if the id is new, or if no conversation is active. `utterd import` and `utterd call Memorize`
/// store tool calls and their results, and the names of participants.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd memorize 'Where is my order?'
  utterd memorize --to trip 'When does the train leave?'
  git log -3 | utterd memorize --to trip")]
pub struct Memorize {
    #[command(flatten)]
    remote: Remote,
    /// The conversation [default: the recipient's active one]
    #[arg(long = "to", value_name = "CONVERSATION", default_value = "")]
    conversation: String,
    /// The recipient of the conversation [default: default]
    #[arg(long, short, value_name = "ID", default_value = "")]
    recipient: String,
    #[command(flatten)]
    json: Json,
    /// The speaker
    #[arg(long, default_value = "user")]
    role: Speaker,
    /// Pin the utterance, so that eviction skips it
    #[arg(long)]
    pin: bool,
    /// The text, in quotes; `-` or no text reads stdin
    #[arg(value_name = "TEXT")]
    text: Option<String>,
}

/// Stores one utterance and prints the result.
pub async fn memorize(args: Memorize) -> Result<(), CliError> {
    let Some(text) = unless_interrupted(content(args.text.clone())).await else {
        return Err(CliError::Interrupted("nothing was stored".into()));
    };
    let stored = unless_interrupted(store(args, text?)).await;
    let unknown = "the server has not answered yet; `utterd show` shows whether it was stored";
    stored.unwrap_or_else(|| Err(CliError::Interrupted(unknown.into())))
}

async fn store(args: Memorize, content: String) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let utterance =
        NewUtterance { role: args.role.wire().into(), content, pinned: args.pin, ..Default::default() };
    let request = MemorizeRequest {
        conversation_id: args.conversation,
        recipient_id: args.recipient,
        utterances: vec![utterance],
        ..Default::default()
    };
    let response = connection.memory().memorize(request).await?.into_inner();
    args.json.answer(response, |output, response| tell(output, &response))
}

fn tell(output: &mut Output, response: &MemorizeResponse) -> io::Result<()> {
    for reference in &response.memorized {
        output.prose(&stored(reference, response))?;
    }
    output.evicted(&response.evicted)
}

fn stored(reference: &UtteranceRef, response: &MemorizeResponse) -> String {
    let started = if response.started_conversation { "the new conversation" } else { "conversation" };
    let replayed = if response.replayed { ", already stored" } else { "" };
    let late = if reference.late { ", a late result," } else { "" };
    format!(
        "memorized {}{late} in turn {} of {started} {}: {}{replayed}",
        reference.sequence,
        reference.turn_number(),
        response.conversation_id,
        counted(reference.token_count(), "token"),
    )
}

/// The text; for `-` or without one, the text on stdin, which must not be empty.
async fn content(text: Option<String>) -> Result<String, CliError> {
    match text.filter(|text| text != "-") {
        Some(text) => Ok(text),
        None => match said(MOST_CONTENT_BYTES).await?.as_str() {
            "" => Err(CliError::Usage("TEXT is missing, and stdin is empty".into())),
            said => Ok(said.to_owned()),
        },
    }
}
