//! `utterd context`: builds what goes to the model.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use clap::Args;

use crate::{
    args::{ContextFormat, Target},
    client::Connection,
    errors::CliError,
    terminal::{Output, count, counted, note, ranges, word},
};
use utterd_rpc::proto::{BuildContextRequest, BuildContextResponse, ContextRecall};

/// Build the messages to send to a model
///
/// Prints them on stdout. On stderr, prints the number of tokens and what is left out. `utterd call BuildContext` takes
/// everything else that can be asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd context --format text --budget 2000
  utterd context trip --format anthropic --instructions 'Be brief.' --recall 'the hotel'")]
pub struct Context {
    #[command(flatten)]
    pub target: Target,
    /// The format
    #[arg(long, default_value = "openai")]
    pub format: ContextFormat,
    /// The most tokens [default: the conversation's limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub budget: Option<i32>,
    /// Only the last N turns, 0 for all [default: the conversation's limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub turns: Option<i32>,
    /// Put this system prompt first; it is not stored
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub instructions: String,
    /// Also quote earlier utterances about PROMPT
    #[arg(long, value_name = "PROMPT")]
    pub recall: Option<String>,
}

/// Prints the messages on stdout, and on stderr what they cost and leave out.
pub async fn context(args: Context) -> Result<(), CliError> {
    let connection = Connection::to(&args.target.remote).await?;
    let json = args.target.json;
    let context = connection.contexts().build_context(request(args)).await?.into_inner();
    json.answer(context, |output, context| {
        tell(output, &context)?;
        output.flush()?;
        note(&told(&context));
        context.warnings.iter().for_each(|warning| note(&format!("warning: {}", warning.text)));
        Ok::<_, CliError>(())
    })
}

fn request(args: Context) -> BuildContextRequest {
    let recall = args.recall.map(|prompt| ContextRecall { prompt, ..Default::default() });
    BuildContextRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        format: args.format.wire().into(),
        token_budget: args.budget,
        max_turns: args.turns,
        instructions: args.instructions,
        recall,
        ..Default::default()
    }
}

/// Prints an array of messages, the `system` and `messages` of an Anthropic request, or text.
fn tell(output: &mut Output, context: &BuildContextResponse) -> Result<(), CliError> {
    if context.messages_json.is_empty() {
        return Ok(output.text(&context.text)?);
    }
    if context.system_json.is_empty() {
        return output.json_value(&raw(&context.messages_json)?);
    }
    output.json_value(&Body { system: raw(&context.system_json)?, messages: raw(&context.messages_json)? })
}

/// The parts of an Anthropic request that come from a context.
#[derive(Serialize)]
struct Body<'a> {
    system: &'a RawValue,
    messages: &'a RawValue,
}

fn raw(json: &str) -> io::Result<&RawValue> {
    serde_json::from_str(json).map_err(io::Error::from)
}

fn told(context: &BuildContextResponse) -> String {
    let mut text = counted(context.token_count(), "token");
    if let Some(budget) = context.token_budget {
        text += &format!(" of {}", count(budget));
    }
    for omitted in &context.omitted {
        let reason = word(omitted.reason().as_str_name(), "OMISSION_REASON_");
        text += &format!("; {} left out: {reason}", ranges(&omitted.sequences));
    }
    text
}
