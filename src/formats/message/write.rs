//! Messages on their way out.

use serde_json::Value;

use crate::{
    domain::Utterance,
    formats::{
        Format, anthropic,
        extras::Parts,
        message::{FORMATS, raw},
        openai_chat, openai_responses,
    },
};

/// A message as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The message: a JSON object. Of OpenAI's Responses several where an utterance speaks and calls, or makes several
    /// calls, and did not come in that format.
    pub json: Vec<String>,
    /// The format that it is in.
    pub format: Format,
}

/// The message that `utterances` are, in the order in which they were said: in `format`, or in the one in which it
/// came.
///
/// Byte for byte as it came, where that is the format, nothing of it is gone, and it says what it said.
pub fn write<'u>(utterances: impl IntoIterator<Item = &'u Utterance>, format: Option<Format>) -> Written {
    let parts: Vec<Parts<'_>> = utterances.into_iter().map(Parts::from).collect();
    let format = format.unwrap_or_else(|| came_in(&parts));
    let json = as_it_came(&parts, format).map_or_else(|| canonical(&parts, format), |json| vec![json]);
    Written { json, format }
}

/// The format in which a message came; chat messages are not marked.
fn came_in(parts: &[Parts<'_>]) -> Format {
    let first = parts.first().and_then(|first| first.first_kept(&FORMATS));
    first.unwrap_or(Format::OpenAiChat)
}

fn as_it_came(parts: &[Parts<'_>], format: Format) -> Option<String> {
    let pieces: Option<Vec<_>> = parts.iter().map(|parts| raw::pieces(parts, format)).collect();
    let mut pieces: Vec<(usize, String)> = pieces?.into_iter().flatten().collect();
    pieces.sort_by_key(|(number, _)| *number);
    let is_whole = pieces.iter().enumerate().all(|(place, (number, _))| place == *number);
    // the last piece closes the message
    let json: String = pieces.into_iter().map(|(_, text)| text).collect();
    (is_whole && json.trim_end().ends_with('}')).then_some(json)
}

/// The message as `format` writes what `parts` say, and what is kept of them.
pub(super) fn canonical(parts: &[Parts<'_>], format: Format) -> Vec<String> {
    let values: Vec<Value> = match format {
        Format::Anthropic => anthropic::message(parts).into_iter().collect(),
        Format::OpenAiResponses => parts.iter().flat_map(|parts| items(parts)).collect(),
        _ => parts.iter().map(|parts| openai_chat::message(parts).0).collect(),
    };
    values.iter().map(Value::to_string).collect()
}

fn items(parts: &Parts<'_>) -> Vec<Value> {
    match openai_responses::items(parts).0 {
        Value::Array(items) => items,
        item => vec![item],
    }
}
