//! `utterd context`: what goes to the model.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    args::{self, ContextFormat},
    client::Connection,
    errors::CliError,
    output::{Output, note},
    text::{count, counted, ranges, word},
};
use crate::proto::{
    self, BuildContextRequest, BuildContextResponse, ContextRecall, RememberScope, SummaryPlacement,
    UnansweredCalls,
};

/// Prints the messages on stdout, and on stderr what they cost and leave out.
pub async fn context(args: args::Context) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let json = args.target.json;
    let context = connection.contexts().build_context(request(args)).await?.into_inner();
    let mut output = Output::new();
    if json {
        output.json("BuildContextResponse", &context)?;
        return Ok(output.flush()?);
    }
    tell(&mut output, &context)?;
    output.flush()?;
    note(&told(&context));
    context.warnings.iter().for_each(|warning| note(&format!("warning: {}", warning.text)));
    Ok(())
}

fn request(args: args::Context) -> BuildContextRequest {
    let scope = if args.everywhere { RememberScope::Recipient } else { RememberScope::Unspecified };
    let recall = args.recall.map(|prompt| ContextRecall {
        prompt,
        limit: args.recall_limit,
        scope: scope.into(),
        max_percent: args.recall_percent,
    });
    let placement =
        if args.summary_as_user { SummaryPlacement::UserMessage } else { SummaryPlacement::System };
    let unanswered = if args.placeholders { UnansweredCalls::Placeholder } else { UnansweredCalls::Omit };
    BuildContextRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        format: match args.format {
            ContextFormat::Openai => proto::ContextFormat::OpenaiChat,
            ContextFormat::Anthropic => proto::ContextFormat::AnthropicMessages,
            ContextFormat::Text => proto::ContextFormat::Text,
        }
        .into(),
        token_budget: args.tokens,
        max_turns: args.turns,
        stable_steps: args.stable_steps,
        instructions: args.instructions,
        summary_placement: placement.into(),
        recall,
        mask_tool_results_after_turns: args.mask,
        unanswered_calls: unanswered.into(),
    }
}

/// An array of messages, the `system` and `messages` of a request to Anthropic, or text.
fn tell(output: &mut Output, context: &BuildContextResponse) -> Result<(), CliError> {
    if context.messages_json.is_empty() {
        return Ok(output.text(&context.text)?);
    }
    if context.system_json.is_empty() {
        return output.json_value(&raw(&context.messages_json)?);
    }
    output.json_value(&Body { system: raw(&context.system_json)?, messages: raw(&context.messages_json)? })
}

/// What Anthropic's request has of a context.
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
