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
use utterd_rpc::proto::{
    BuildContextRequest, BuildContextResponse, ContextRecall, Earlier, RememberScope, SummaryPlacement,
    UnansweredCalls,
};

/// Build the messages to send to a model
///
/// Prints them on stdout. On stderr, prints the number of tokens and what is left out.
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
    /// Leave turns out in large steps, so that prompt caches hit in between [default: true without --turns]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub stable_steps: Option<bool>,
    /// Put this system prompt first; it is not stored
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub instructions: String,
    /// Also quote earlier utterances about PROMPT
    #[arg(long, value_name = "PROMPT")]
    pub recall: Option<String>,
    /// Quote from the recipient's other conversations too [default: only if no conversation is named]
    #[arg(long, requires = "recall")]
    pub everywhere: bool,
    /// Quote at most N utterances [default: as many as fit]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_limit: Option<i32>,
    /// The share of the budget for quotes, in per cent [default: 50, and what recent turns leave]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_percent: Option<i32>,
    /// Fill the rest of the budget with turns that left the window
    #[arg(long)]
    pub archive: bool,
    /// Say how the recipient's other conversations ended [default: true if no conversation is named]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub earlier: Option<bool>,
    /// Mask tool results that are at least N turns old
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub mask: Option<i32>,
    /// Put the summary in a user message, not in the system prompt
    #[arg(long)]
    pub summary_as_user: bool,
    /// Keep calls that have no result, with a placeholder as the result
    #[arg(long)]
    pub placeholders: bool,
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
    let scope = if args.everywhere { RememberScope::Recipient } else { RememberScope::Unspecified };
    let recall = args.recall.map(|prompt| ContextRecall {
        prompt,
        limit: args.recall_limit,
        scope: scope.into(),
        max_percent: args.recall_percent,
        min_relevance: None,
    });
    let placement =
        if args.summary_as_user { SummaryPlacement::UserMessage } else { SummaryPlacement::System };
    let unanswered = if args.placeholders { UnansweredCalls::Placeholder } else { UnansweredCalls::Omit };
    let earlier = match args.earlier {
        None => Earlier::Unspecified,
        Some(true) => Earlier::Ended,
        Some(false) => Earlier::None,
    };
    BuildContextRequest {
        conversation_id: args.target.conversation(),
        recipient_id: args.target.recipient,
        format: args.format.wire().into(),
        token_budget: args.budget,
        max_turns: args.turns,
        stable_steps: args.stable_steps,
        instructions: args.instructions,
        summary_placement: placement.into(),
        recall,
        mask_tool_results_after_turns: args.mask,
        unanswered_calls: unanswered.into(),
        include_archive: args.archive,
        earlier: earlier.into(),
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
