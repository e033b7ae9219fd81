//! PrepareHistory, as a command.

use std::fmt::Write;

use serde_json::{Value, json};
use tonic::Request;
use utterd::proto::{self, context_service_server::ContextService};

use crate::golden::{
    command::Command,
    names,
    operations::{OTHER, answer},
    print,
    runner::{Here, Printed},
};

/// `prepare`
pub async fn prepare(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Prepare { prompt, history, count, format, alternation, bytes } = command else {
        return Err(OTHER.into());
    };
    let request = proto::PrepareHistoryRequest {
        messages_json: count.map_or_else(|| history.clone(), conversation),
        prompt: prompt.clone(),
        max_bytes: *bytes,
        format: names::number("CONTEXT_FORMAT", format.as_deref(), proto::ContextFormat::from_str_name)?,
        alternation: names::number("ALTERNATION", alternation.as_deref(), proto::Alternation::from_str_name)?,
        ..Default::default()
    };
    let response = answer(here.server.services().prepare_history(Request::new(request)).await)?;
    let messages: Vec<Value> = serde_json::from_str(&response.messages_json)?;
    let mut text = String::new();
    match messages.as_slice() {
        [first, .., last] if count.is_some() => _ = writeln!(text, "{first}\n…\n{last}"),
        all => all.iter().for_each(|message| _ = writeln!(text, "{message}")),
    }
    for dropped in &response.dropped {
        let reason = dropped.reason().as_str_name().trim_start_matches("DROP_REASON_").to_lowercase();
        let _ = writeln!(text, "dropped {}: {reason}: {}", dropped.index(), dropped.text);
    }
    for warning in &response.warnings {
        let _ = writeln!(text, "warning: {}", warning.text);
    }
    let messages = print::plural(response.message_count(), "message");
    Ok(format!("{text}{messages}, {} tokens", response.token_count()))
}

/// This many alternating messages of a user and an assistant.
fn conversation(count: usize) -> String {
    let message = |number: usize| match number % 2 {
        1 => json!({"role": "user", "content": format!("Question {number}")}),
        _ => json!({"role": "assistant", "content": format!("Answer {number}")}),
    };
    Value::from((1..=count).map(message).collect::<Vec<_>>()).to_string()
}
