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
use utterd_formats::{Place, openai_chat};
use utterd_rpc::proto::{MemorizeRequest, MemorizeResponse, NewUtterance, Role, ToolCall, UtteranceRef};

/// Store an utterance
///
/// Starts a conversation if the id is new, or if no conversation is active.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd memorize 'Where is my order?'
  utterd memorize --to trip 'When does the train leave?'
  git log -3 | utterd memorize --to trip --tool-call-id c1
  utterd memorize --tool-calls '[{\"id\":\"c1\",\"function\":{\"name\":\"lookup\",\"arguments\":\"{}\"}}]'")]
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
    /// The speaker [default: user; assistant with --tool-calls, tool with --tool-call-id]
    #[arg(long)]
    role: Option<Speaker>,
    /// The participant's or the tool's name
    #[arg(long, default_value = "")]
    name: String,
    /// Pin the utterance, so that eviction skips it
    #[arg(long)]
    pin: bool,
    /// The turn of the utterance [default: counted by the server]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    turn: Option<i32>,
    /// An id for this attempt, so that repeating the command stores nothing twice
    #[arg(long, value_name = "ID", default_value = "")]
    request_id: String,
    /// The tool calls of the utterance, as OpenAI's JSON array
    #[arg(long, value_name = "JSON")]
    tool_calls: Option<String>,
    /// The id of the call whose result this is
    #[arg(long, value_name = "ID", conflicts_with = "tool_calls")]
    tool_call_id: Option<String>,
    /// The text, in quotes; `-`, or no text without --tool-calls, reads stdin
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

/// Stores one utterance and prints the result.
pub async fn memorize(args: Memorize) -> Result<(), CliError> {
    let Some(utterance) = unless_interrupted(utterance(&args)).await else {
        return Err(CliError::Interrupted("nothing was stored".into()));
    };
    let repeat = match args.request_id.is_empty() {
        true => "the server has not answered yet; `utterd show` shows whether it was stored",
        false => "the server has not answered yet; repeating the command does not store it twice",
    };
    let stored = unless_interrupted(store(args, utterance?)).await;
    stored.unwrap_or_else(|| Err(CliError::Interrupted(repeat.into())))
}

async fn store(args: Memorize, utterance: NewUtterance) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let request = MemorizeRequest {
        conversation_id: args.conversation,
        recipient_id: args.recipient,
        utterances: vec![utterance],
        request_id: args.request_id,
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

async fn utterance(args: &Memorize) -> Result<NewUtterance, CliError> {
    Ok(NewUtterance {
        role: role(args).into(),
        name: args.name.clone(),
        content: match (text(args)?, &args.tool_calls) {
            (None, Some(_)) => String::new(),
            (text, _) => content(text).await?,
        },
        tool_calls: args.tool_calls.as_deref().map(tool_calls).transpose()?.unwrap_or_default(),
        tool_call_id: args.tool_call_id.clone().unwrap_or_default(),
        turn_number: args.turn,
        pinned: args.pin,
        ..Default::default()
    })
}

fn role(args: &Memorize) -> Role {
    let implied = match (&args.tool_calls, &args.tool_call_id) {
        (Some(_), _) => Speaker::Assistant,
        (None, Some(_)) => Speaker::Tool,
        (None, None) => Speaker::User,
    };
    args.role.unwrap_or(implied).wire()
}

/// The text, if there is one. Several words are a text without its quotes, or a conversation before its text.
fn text(args: &Memorize) -> Result<Option<String>, CliError> {
    match &*args.text {
        [] => Ok(None),
        [text] => Ok(Some(text.clone())),
        words => Err(CliError::Usage(format!(
            "TEXT is {} words; accepted: one argument, so put a text in quotes, and name a conversation with --to:\n  \
             utterd memorize 'The train leaves at nine.'\n  utterd memorize --to trip 'The train leaves at nine.'",
            words.len()
        ))),
    }
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

fn tool_calls(json: &str) -> Result<Vec<ToolCall>, CliError> {
    const FLAG: &str = "--tool-calls";
    let wrong = |error| CliError::Usage(format!("{FLAG}: is not JSON: {error}"));
    let mut value = serde_json::from_str(json).map_err(wrong)?;
    let calls = openai_chat::tool_calls(&mut value, &Place::root(FLAG));
    let calls = calls.map_err(|refusal| CliError::Usage(refusal.to_string()))?.into_iter();
    let sent = calls.map(|call| ToolCall {
        id: call.id.into(),
        name: call.name.into(),
        arguments_json: call.arguments_json.into(),
    });
    Ok(sent.collect())
}
