//! `utterd prepare`: turns a history that the caller holds into messages that a model accepts.

use std::path::PathBuf;

use clap::Args;
use serde_json::value::RawValue;

use crate::{
    args::{ContextFormat, Json, Remote, choice},
    client::Connection,
    errors::CliError,
    terminal::{Output, counted, folded, note, read},
};
use utterd_domain::limits::MAX_HISTORY_WEIGHT;
use utterd_rpc::proto::{DroppedMessage, HistoryRecall, PrepareHistoryRequest, PrepareHistoryResponse};

choice! {
    /// What happens to consecutive messages of one role.
    enum Alternation means Alternation {
        /// into one message
        Merge = Merge,
        /// all but the newest
        Drop = Drop,
        /// refuse the history
        Reject = Reject,
    }
}

/// Fit a history that you hold to a model's limits
///
/// Reads a JSON array of OpenAI chat or Anthropic messages, and prints the newest whole exchanges that fit. Stores
/// nothing. Lists on stderr the messages that it leaves out, with the reasons.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd prepare --prompt 'And the return flight?' < messages.json
  utterd prepare messages.json --format anthropic --budget 4000")]
pub struct Prepare {
    #[command(flatten)]
    remote: Remote,
    /// Add this message of the user at the end
    #[arg(long, value_name = "TEXT", default_value = "")]
    prompt: String,
    /// The format to print
    #[arg(long, default_value = "openai")]
    format: ContextFormat,
    /// The most messages of the history [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_messages: Option<i32>,
    /// The most bytes [default: 102400]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_bytes: Option<i32>,
    /// The most tokens [default: unlimited]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    budget: Option<i32>,
    /// How to treat consecutive messages of one role
    #[arg(long, default_value = "merge")]
    alternation: Alternation,
    /// Count with this encoding, or as this OpenAI model [default: the server's encoding]
    #[arg(long, value_name = "NAME", default_value = "")]
    model: String,
    /// Quote messages about PROMPT from the part that is left out [default: --prompt]
    #[arg(long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "")]
    recall: Option<String>,
    #[command(flatten)]
    json: Json,
    /// The history; `-` reads stdin
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

/// Prints the messages on stdout, and on stderr what was left out.
pub async fn prepare(args: Prepare) -> Result<(), CliError> {
    let file = args.file.clone();
    let history = read::behind(move || read::text(&file, MAX_HISTORY_WEIGHT)).await?;
    let connection = Connection::to(&args.remote).await?;
    let json = args.json;
    let response = connection.contexts().prepare_history(request(args, history)).await?.into_inner();
    json.answer(response, tell)
}

fn request(args: Prepare, history: String) -> PrepareHistoryRequest {
    PrepareHistoryRequest {
        messages_json: history,
        prompt: args.prompt,
        max_messages: args.max_messages,
        max_bytes: args.max_bytes,
        token_budget: args.budget,
        alternation: args.alternation.wire().into(),
        format: args.format.wire().into(),
        model: args.model,
        recall: args.recall.map(|prompt| HistoryRecall { prompt, ..Default::default() }),
        ..Default::default()
    }
}

/// What was left out: one line for consecutive messages with the same reason, `left out [1–34]: …`.
fn left_out(dropped: &[DroppedMessage]) -> Vec<String> {
    let mut lines: Vec<(i32, i32, &str)> = Vec::new();
    for message in dropped {
        let place = format!("messages_json[{}]", message.index());
        let why = message.text.strip_prefix(&place).unwrap_or(&message.text).trim_start_matches([':', ' ']);
        match lines.last_mut() {
            Some((_, last, before)) if *before == why && *last + 1 == message.index() => *last += 1,
            _ => lines.push((message.index(), message.index(), why)),
        }
    }
    let line = |(first, last, why): (i32, i32, &str)| match first == last {
        true => folded(&format!("left out [{first}]: {why}")),
        false => folded(&format!("left out [{first}–{last}]: {why}")),
    };
    lines.into_iter().map(line).collect()
}

/// Prints an array of messages, or the `system` and `messages` of an Anthropic request; and on stderr what was left out.
fn tell(output: &mut Output, response: PrepareHistoryResponse) -> Result<(), CliError> {
    let messages: &RawValue = serde_json::from_str(&response.messages_json).map_err(std::io::Error::from)?;
    match response.system.as_str() {
        "" => output.json_value(&messages)?,
        system => output.json_value(&serde_json::json!({ "system": system, "messages": messages }))?,
    }
    output.flush()?;
    note(&format!(
        "{}, {}",
        counted(response.message_count(), "message"),
        counted(response.token_count(), "token")
    ));
    left_out(&response.dropped).iter().for_each(|line| note(line));
    response.warnings.iter().for_each(|warning| note(&format!("warning: {}", warning.text)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_a_row_are_left_out_in_one_line() {
        let dropped = |index: i32, why: &str| DroppedMessage {
            index: Some(index),
            text: format!("messages_json[{index}]{why}"),
            ..Default::default()
        };
        let told =
            left_out(&[dropped(1, " does not fit"), dropped(2, " does not fit"), dropped(4, ".role: is 7")]);
        assert_eq!(told, ["left out [1–2]: does not fit", "left out [4]: .role: is 7"]);
    }
}
