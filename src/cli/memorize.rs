//! `utterd memorize`: stores one utterance.

use std::io::{self, Read};

use super::{
    args::{self, Speaker},
    client::Connection,
    errors::CliError,
    output::{Output, note},
    text::{counted, sequences},
};
use crate::{
    formats::{Place, openai_chat},
    proto::{MemorizeRequest, MemorizeResponse, NewUtterance, Role, ToolCall, UtteranceRef},
};

/// Stores one utterance and tells what became of it.
pub async fn memorize(args: args::Memorize) -> Result<(), CliError> {
    let utterance = utterance(&args)?;
    let connection = Connection::open(&args.target).await?;
    let request = MemorizeRequest {
        conversation_id: args.target.conversation,
        recipient_id: args.target.recipient,
        utterances: vec![utterance],
        request_id: args.request_id,
        ..Default::default()
    };
    let response = connection.memory().memorize(request).await?.into_inner();
    let mut output = Output::new();
    if args.target.json {
        output.json("MemorizeResponse", &response)?;
    } else {
        tell(&mut output, &response)?;
    }
    Ok(output.flush()?)
}

fn tell(output: &mut Output, response: &MemorizeResponse) -> io::Result<()> {
    for reference in &response.memorized {
        output.line(&stored(reference, response))?;
    }
    if !response.evicted.is_empty() {
        let evicted = sequences(&response.evicted);
        output.line(&format!("evicted {evicted}"))?;
    }
    Ok(())
}

fn stored(reference: &UtteranceRef, response: &MemorizeResponse) -> String {
    let started = if response.started_conversation { "the new conversation" } else { "conversation" };
    let replayed = if response.replayed { ", was there already" } else { "" };
    let late = if reference.late { ", a late result," } else { "" };
    format!(
        "memorized {}{late} in turn {} of {started} {}: {}{replayed}",
        reference.sequence,
        reference.turn_number(),
        response.conversation_id,
        counted(reference.token_count(), "token"),
    )
}

fn utterance(args: &args::Memorize) -> Result<NewUtterance, CliError> {
    Ok(NewUtterance {
        role: role(args).into(),
        name: args.name.clone(),
        content: content(&args.text)?,
        tool_calls: args.tool_calls.as_deref().map(tool_calls).transpose()?.unwrap_or_default(),
        tool_call_id: args.tool_call_id.clone().unwrap_or_default(),
        turn_number: args.turn,
        pinned: args.pin,
        ..Default::default()
    })
}

fn role(args: &args::Memorize) -> Role {
    let implied = match (&args.tool_calls, &args.tool_call_id) {
        (Some(_), _) => Speaker::Assistant,
        (None, Some(_)) => Speaker::Tool,
        (None, None) => Speaker::User,
    };
    args.role.unwrap_or(implied).into()
}

/// The words, or stdin without its last line end.
fn content(words: &[String]) -> Result<String, CliError> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    note_if_typed();
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let without_end = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    Ok(without_end.unwrap_or(&text).to_owned())
}

fn note_if_typed() {
    if io::IsTerminal::is_terminal(&io::stdin()) {
        note("reading from the terminal; end with Ctrl-D");
    }
}

fn tool_calls(json: &str) -> Result<Vec<ToolCall>, CliError> {
    const FLAG: &str = "--tool-calls";
    let wrong = |error| CliError::Usage(format!("{FLAG}: is no JSON: {error}"));
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
