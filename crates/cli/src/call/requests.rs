//! The requests of a call, from the command line or stdin.

use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};

use super::json;
use crate::{errors::CliError, terminal::read};
use utterd_domain::limits::DEFAULT_MAX_MESSAGE_BYTES;

/// What stands for stdin.
const STDIN: &str = "-";
/// The most bytes of requests: a message that a server accepts can be twice as long in JSON.
const LIMIT: usize = 2 * DEFAULT_MAX_MESSAGE_BYTES;

/// The requests of a call of `method`: `json`, or what is on stdin, a line each if it takes a stream. None of them is
/// sent if one is wrong.
pub async fn requests(
    method: &MethodDescriptor,
    json: Option<String>,
) -> Result<Vec<DynamicMessage>, CliError> {
    let is_stream = method.is_client_streaming();
    let json = match json.filter(|json| json != STDIN || !is_stream) {
        None if is_stream => return lines(method.input(), &read::said(LIMIT).await?),
        None => "{}".to_owned(),
        Some(json) if json == STDIN => read::said(LIMIT).await?,
        Some(json) => json,
    };
    Ok(vec![message(method.input(), &json, "JSON")?])
}

fn lines(input: MessageDescriptor, text: &str) -> Result<Vec<DynamicMessage>, CliError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| message(input.clone(), line, &format!("line {} of stdin", at + 1));
    lines.map(read).collect()
}

fn message(input: MessageDescriptor, json: &str, place: &str) -> Result<DynamicMessage, CliError> {
    json::read(input, json.as_bytes()).map_err(|error| CliError::Usage(format!("{place}: {error}")))
}
