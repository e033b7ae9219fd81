//! BuildContext, as a command.

use std::fmt::Write;

use serde_json::Value;
use tonic::Request;
use utterd::proto::{self, context_service_server::ContextService};

use crate::golden::{
    command::Command,
    names,
    operations::{OTHER, answer},
    print,
    runner::{Here, Printed},
};

/// `context`
pub async fn context(here: &Here<'_>, command: &Command) -> Printed {
    let request = request(here, command)?;
    let response = answer(here.server.services().build_context(Request::new(request)).await)?;
    let mut text = String::new();
    if !response.system_json.is_empty() {
        let _ = writeln!(text, "system {}", response.system_json);
    }
    if !response.messages_json.is_empty() {
        text += &messages(&response)?;
    }
    if !response.text.is_empty() {
        let _ = writeln!(text, "{}", response.text);
    }
    let _ = write!(text, "{} tokens", response.token_count());
    for omitted in &response.omitted {
        let reason = omitted.reason().as_str_name().trim_start_matches("OMISSION_REASON_").to_lowercase();
        let _ = write!(text, "; {} left out: {reason}", print::ranges(&omitted.sequences));
    }
    for warning in &response.warnings {
        let _ = write!(text, "\nwarning: {}", warning.text);
    }
    Ok(text)
}

fn request(here: &Here<'_>, command: &Command) -> Result<proto::BuildContextRequest, String> {
    let Command::Context { format, budget, turns, placement, mask, unanswered, recall, limit } = command
    else {
        return Err(OTHER.into());
    };
    let recall =
        recall.clone().map(|prompt| proto::ContextRecall { prompt, limit: *limit, ..Default::default() });
    let placement = placement.as_deref();
    let unanswered = unanswered.as_deref();
    Ok(proto::BuildContextRequest {
        conversation_id: here.conversation_id.clone(),
        format: names::number("CONTEXT_FORMAT", format.as_deref(), proto::ContextFormat::from_str_name)?,
        token_budget: *budget,
        max_turns: *turns,
        summary_placement: names::number(
            "SUMMARY_PLACEMENT",
            placement,
            proto::SummaryPlacement::from_str_name,
        )?,
        recall,
        mask_tool_results_after_turns: *mask,
        unanswered_calls: names::number(
            "UNANSWERED_CALLS",
            unanswered,
            proto::UnansweredCalls::from_str_name,
        )?,
        ..Default::default()
    })
}

/// One line for each message, and a line after the stable ones unless all are.
fn messages(response: &proto::BuildContextResponse) -> Result<String, serde_json::Error> {
    let messages: Vec<Value> = serde_json::from_str(&response.messages_json)?;
    let stable = usize::try_from(response.stable_prefix_messages()).unwrap_or_default();
    let mut text = String::new();
    for (index, message) in messages.iter().enumerate() {
        if index == stable {
            text += "-- stable to here\n";
        }
        let _ = writeln!(text, "{message}");
    }
    Ok(text)
}
