//! Writes messages.

use serde_json::Value;

use crate::{Format, anthropic, extras::Parts, message::raw, openai_chat, providers};
use utterd_domain::Utterance;

/// A written message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The message: a JSON object. For OpenAI's Responses there are several objects if an utterance both
    /// speaks and calls or makes several calls, and did not come in that format.
    pub json: Vec<String>,
    /// Its format.
    pub format: Format,
}

/// Writes the message that consists of `utterances`, in the order in which they were said. Without a
/// `format`, the one it came in is used.
///
/// If that is the format it came in, and no part of it was removed or changed, the bytes are the original
/// ones.
pub fn write<'u>(utterances: impl IntoIterator<Item = &'u Utterance>, format: Option<Format>) -> Written {
    let parts: Vec<Parts<'_>> = utterances.into_iter().map(Parts::from).collect();
    // chat messages have no mark
    let origin = || parts.first().and_then(Parts::origin).unwrap_or(Format::OpenAiChat);
    let format = format.unwrap_or_else(origin);
    let json = as_it_came(&parts, format).map_or_else(|| canonical(&parts, format), |json| vec![json]);
    Written { json, format }
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

/// The message as `format` writes it, with its kept details.
pub(super) fn canonical(parts: &[Parts<'_>], format: Format) -> Vec<String> {
    // nothing else is kept of most
    if let ([parts], Format::OpenAiChat) = (parts, format)
        && parts.kept_json(format).is_none()
    {
        let mut json = String::with_capacity(parts.content.len() + 64);
        openai_chat::write(parts, &mut json);
        return vec![json];
    }
    let values: Vec<Value> = match format {
        Format::Anthropic => anthropic::message(parts).into_iter().collect(),
        _ => parts.iter().flat_map(|parts| providers::of(format).original(parts)).collect(),
    };
    values.iter().map(Value::to_string).collect()
}
