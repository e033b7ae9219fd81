//! `utterd prepare`: turns a history that the caller holds into messages that a model accepts.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::value::RawValue;

use crate::{
    args::{ContextFormat, Json, Remote},
    client::Connection,
    conversations::parts::whole_file,
    errors::CliError,
    terminal::{
        Output, count, counted, folded, note,
        read::{behind, label},
    },
};
use utterd_config::Settings;
use utterd_domain::limits::MAX_HISTORY_WEIGHT;
use utterd_formats::{self as formats, UnknownRoles};
use utterd_rpc::proto::{
    DroppedMessage, HistoryRecall, PrepareHistoryRequest, PrepareHistoryResponse, SummaryPlacement,
};
use utterd_server::InProcess;
use utterd_tokenizer::encoding_for;

/// Fit a history that you hold to a model's limits
///
/// Reads a JSON array of OpenAI chat or Anthropic messages, or a session file of Claude Code, Codex or pi. Prints the newest
/// whole exchanges that fit, with --summary beside a summary of the others. Lists on stderr the messages that it leaves
/// out, with the reasons. Needs no server, and stores nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd prepare --prompt 'And the return flight?' < messages.json
  utterd prepare messages.json --format anthropic --budget 4000
  utterd prepare session.jsonl --budget 20000 --summary 2000")]
pub struct Prepare {
    #[command(flatten)]
    remote: Remote,
    /// Add this message of the user at the end
    #[arg(long, value_name = "TEXT", default_value = "")]
    prompt: String,
    /// The format to print
    #[arg(long, default_value = "openai")]
    format: ContextFormat,
    /// The most messages of the history [default: 20; with --summary, unlimited]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_messages: Option<i32>,
    /// The most bytes [default: 102400; with --summary, unlimited]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_bytes: Option<i32>,
    /// The most tokens [default: unlimited]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    budget: Option<i32>,
    /// Count with this encoding, or as this OpenAI model [default: the server's encoding, o200k_base without one]
    #[arg(long, value_name = "NAME", default_value = "")]
    model: String,
    /// Quote messages about PROMPT from the part that is left out [default: --prompt]
    #[arg(long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "")]
    recall: Option<String>,
    /// Summarise what does not fit, in at most N tokens
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    summary: Option<i32>,
    /// Send the summary as a user's message instead of a system message
    #[arg(long, requires = "summary")]
    summary_as_user: bool,
    /// If something does not fit, summarise all but the newest N messages, or a few more
    #[arg(long, value_name = "N", requires = "summary", allow_negative_numbers = true)]
    keep_recent: Option<i32>,
    /// Prefer sentences with this word in the summary; can be repeated
    #[arg(long, value_name = "WORD", requires = "summary")]
    focus: Vec<String>,
    /// Print the summary alone
    #[arg(long, requires = "summary")]
    summary_only: bool,
    #[command(flatten)]
    json: Json,
    /// The history; `-` reads stdin
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

/// Prints the messages on stdout, and on stderr what was left out.
pub async fn prepare(args: Prepare) -> Result<(), CliError> {
    let file = args.file.clone();
    let history = behind(move || messages(&file, whole_file(&file, MAX_HISTORY_WEIGHT)?)).await?;
    let (json, summary_only) = (args.json, args.summary_only);
    let (connection, _own) = match args.remote.server {
        Some(_) => (Connection::to(&args.remote).await?, None),
        None => {
            let encoding = encoding_for(&args.model).unwrap_or_default();
            let own = InProcess::start(&Settings { encoding, ..Settings::default() }).await?;
            (Connection::within(own.connector(), &args.remote.access).await?, Some(own))
        }
    };
    let response = connection.contexts().prepare_history(request(args, history)).await?.into_inner();
    json.answer(response, |output, response| tell(output, &response, summary_only))
}

/// The messages that a file holds; of a session, those of the branch that goes on.
fn messages(file: &Path, content: Vec<u8>) -> Result<String, CliError> {
    let wrong = |what: &str| CliError::Failed(format!("{}: {what}", label(file)));
    if formats::session(&content).is_none() {
        return String::from_utf8(content).map_err(|error| wrong(&error.to_string()));
    }
    let source = formats::parse(&content, None, UnknownRoles::Refuse);
    let source = source.map_err(|refusal| wrong(&refusal.to_string()))?;
    let told = |it: &formats::Note| format!("{} {}: {}", label(file), it.place, it.description);
    source.notes.iter().for_each(|it| note(&folded(&told(it))));
    // branches and subagents have names of their own
    let goes_on = |it: &&formats::Parsed| it.id.as_ref().is_none_or(|id| !id.contains('~'));
    let session = source.conversations.iter().find(goes_on).or(source.conversations.first());
    let session = session.ok_or_else(|| wrong("holds no conversation"))?;
    Ok(formats::chat_messages(session).to_string())
}

fn request(args: Prepare, history: String) -> PrepareHistoryRequest {
    let placement =
        if args.summary_as_user { SummaryPlacement::UserMessage } else { SummaryPlacement::System };
    PrepareHistoryRequest {
        messages_json: history,
        prompt: args.prompt,
        max_messages: args.max_messages,
        max_bytes: args.max_bytes,
        token_budget: args.budget,
        format: args.format.wire().into(),
        model: args.model,
        recall: args.recall.map(|prompt| HistoryRecall { prompt, ..Default::default() }),
        summary_token_limit: args.summary,
        summary_placement: placement.into(),
        keep_recent: args.keep_recent,
        focus_areas: args.focus,
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

/// Prints an array of messages, or the `system` and `messages` of an Anthropic request, or the summary alone; and on stderr
/// what was left out.
fn tell(output: &mut Output, response: &PrepareHistoryResponse, summary_only: bool) -> Result<(), CliError> {
    let messages: &RawValue = serde_json::from_str(&response.messages_json).map_err(std::io::Error::from)?;
    match response.system.as_str() {
        _ if summary_only => output.text(&response.summary)?,
        "" => output.json_value(&messages)?,
        system => output.json_value(&serde_json::json!({ "system": system, "messages": messages }))?,
    }
    output.flush()?;
    note(&format!(
        "{}, {} of {}",
        counted(response.message_count(), "message"),
        count(u64::from(response.token_count().unsigned_abs())),
        counted(response.history_token_count(), "token")
    ));
    left_out(&response.dropped).iter().for_each(|line| note(line));
    response.warnings.iter().for_each(|warning| note(&format!("warning: {}", warning.text)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_session_the_branch_that_goes_on_is_read() {
        let line = |id: &str, before: &str| {
            format!(
                "{{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"{id}\",\"parentUuid\":{before},\
                 \"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
            )
        };
        let read =
            |text: &str| messages(Path::new("x"), text.as_bytes().to_vec()).map_err(|it| it.to_string());
        let session = [line("a", "null"), line("b", "\"a\""), line("c", "\"a\"")].concat();
        let said = r#"[{"role":"user","content":"a"},{"role":"user","content":"c"}]"#;
        assert_eq!(read(&session), Ok(said.to_owned()));
        assert_eq!(read(&(session + "{\"type\":\"user")), Ok(said.to_owned()), "its last line is torn");
        assert_eq!(read("[]"), Ok("[]".to_owned()));
        let empty = r#"{"type":"session","id":"s","timestamp":"2025-01-01T00:00:00Z","cwd":"/"}"#;
        assert_eq!(read(empty), Err("x: holds no conversation".to_owned()));
    }

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
