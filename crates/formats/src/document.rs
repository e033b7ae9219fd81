//! Reads bytes into conversations, in any of the formats.

use serde_json::Value;

use crate::{
    Format, Parsed, Source, UnknownRoles, legacy, openai_responses, persisted, place::Notes, place::Place,
    programs, providers, repair, texts, values,
};
use utterd_domain::{Refusal, Result};

/// Reads the conversations of a file: JSON, or JSON values one after the other (JSONL).
///
/// Without a `format`, it is detected from the content; an empty list could be of any format, and holds no
/// conversation. In OpenAI's chat messages, Responses items and Anthropic's messages, several arrays or
/// objects are several conversations; single messages, one per line, make up one conversation. Of the data of
/// seed 000's plugin, only the value under its storage key, `conversationData`, is read.
///
/// Refuses data that is not UTF-8 or not JSON, except for what is torn of a session of a coding agent. Names
/// the place of whatever the format does not accept.
pub fn parse(bytes: &[u8], format: Option<Format>, unknown_roles: UnknownRoles) -> Result<Source> {
    let mut notes = Notes { unknown_roles, bytes: bytes.len(), ..Notes::default() };
    let (mut values, torn) = values::read(bytes, format, &mut notes)?;
    let name = if unwrap(&mut values, &mut notes) { STORAGE_KEY } else { "" };
    let is_empty = format.is_none() && values.iter().all(|value| value.as_array().is_some_and(Vec::is_empty));
    let format = format.or_else(|| detect(&values)).ok_or_else(|| Refusal::invalid("content", UNKNOWN))?;
    let conversations = match format {
        _ if is_empty => Vec::new(),
        Format::ChatGpt => programs::chatgpt::conversations(values, &mut notes)?,
        Format::Claude => programs::claude::conversations(values, &mut notes)?,
        Format::ClaudeCode => programs::claude_code::conversations(values, &mut notes)?,
        Format::Codex => programs::codex::conversations(values, &mut notes)?,
        Format::Pi => programs::pi::conversations(values, &mut notes)?,
        format => transcripts(values, format, name, &mut notes)?,
    };
    if is_empty {
        notes.add(&Place::root("content"), "holds nothing: nothing is stored");
    } else if conversations.is_empty() && !format.has_messages() && format != Format::Legacy {
        notes.add(&Place::root("content"), "holds no conversation: nothing is stored");
    }
    Ok(Source { format, conversations, torn, notes: notes.list })
}

/// Reads values that are conversations, or messages of one.
fn transcripts(values: Vec<Value>, format: Format, name: &str, notes: &mut Notes) -> Result<Vec<Parsed>> {
    let several = values.len() > 1;
    let mut conversations = Vec::new();
    let spread = spread(values, format);
    let one_a_line = several && spread.len() == 1;
    for (index, value) in spread.into_iter().enumerate() {
        let line = format!("line {}", index + 1);
        let place = match index {
            0 if one_a_line => Place::lines(),
            0 => Place::root(name),
            _ => Place::root(&line),
        };
        match format {
            Format::Persisted => conversations.extend(persisted::conversations(value, &place, notes)?),
            Format::Legacy => conversations.extend(legacy::history(value, &place, notes)?),
            _ => conversations.push(repair::conversation(providers::of(format), value, &place, notes)?),
        }
    }
    Ok(conversations)
}

/// The key under which seed 000's plugin keeps its conversations.
const STORAGE_KEY: &str = "conversationData";

/// Replaces the plugin's data with the value under its storage key; returns whether it has that key.
fn unwrap(values: &mut [Value], notes: &mut Notes) -> bool {
    let [Value::Object(fields)] = values else { return false };
    let Some(data) = fields.shift_remove(STORAGE_KEY) else { return false };
    fields.keys().for_each(|name| notes.add(&Place::root(name), "is not read: only conversationData is"));
    values[0] = data;
    true
}

/// Splits `values` into conversations: single messages make up one.
fn spread(values: Vec<Value>, format: Format) -> Vec<Value> {
    if matches!(format, Format::Persisted | Format::Legacy) {
        return values;
    }
    let (mut loose, mut whole) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Array(values) if values.first().is_some_and(is_conversation) => whole.extend(values),
            value if is_conversation(&value) => whole.push(value),
            message => loose.push(message),
        }
    }
    if !loose.is_empty() {
        whole.push(Value::Array(loose));
    }
    whole
}

fn is_conversation(value: &Value) -> bool {
    let holds = |list: &str| value.get(list).is_some_and(|list| list.is_array() || list.is_string());
    let message = value.get("role").is_some() || value.get("type").is_some_and(|kind| kind != "response");
    value.is_array()
        || value.get("messages").is_some()
        || (!message && openai_responses::PROVIDER.lists.iter().any(|list| holds(list)))
}

/// Why values whose format is not detected are refused.
const UNKNOWN: &str = "is in no recognizable format; name the format; accepted: messages with roles, Responses items, \
    PersistedConversations, legacy histories, and what ChatGPT, Claude, Claude Code, Codex and pi keep";

/// Detects the format of `values`; `None` if they are in none that is known.
///
/// A plain message with a role and text could come from any provider: it is read as an OpenAI chat message.
pub fn detect(values: &[Value]) -> Option<Format> {
    let Some(first) = values.first() else { return Some(Format::OpenAiChat) };
    if let Some(format) = programs::detect(values) {
        return Some(format);
    }
    let has = |name: &str| first.get(name).is_some();
    if has("recentConversations") || first.get(0).is_some_and(|entry| entry.get("userMessage").is_some()) {
        return Some(Format::Legacy);
    }
    if has("conversations") || (has("startedAt") && has("messages")) {
        return Some(Format::Persisted);
    }
    if ["input", "output", "items"].iter().any(|name| has(name)) && !has("role") && !has("type") {
        return Some(Format::OpenAiResponses);
    }
    if has("system") && has("messages") {
        return Some(Format::Anthropic);
    }
    let all: Vec<&Value> = values.iter().flat_map(messages).collect();
    // a text with its role is a message of any of them
    let is_marked = |message: &&&Value| message.get("type").is_some() || !message["content"].is_string();
    let marked: Vec<&Value> = all.iter().filter(is_marked).copied().collect();
    let any = |shows: fn(&Value) -> bool| marked.iter().any(|message| shows(message));
    match () {
        // what a message contains tells more than what it is called
        () if any(has_items) => Some(Format::OpenAiResponses),
        () if any(has_blocks) => Some(Format::Anthropic),
        () if any(|message| texts::kind(message) == "message") => Some(Format::OpenAiResponses),
        () if all.iter().all(|message| message.get("role").is_some()) => Some(Format::OpenAiChat),
        () => None,
    }
}

/// The messages that a value contains, or the value itself if it is a message.
fn messages(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().flat_map(messages).collect(),
        Value::Object(fields) => match fields.get("messages").and_then(Value::as_array) {
            Some(messages) => messages.iter().collect(),
            None => vec![value],
        },
        other => vec![other],
    }
}

/// Whether only the Responses API has such an item, or parts of its kind in it.
fn has_items(item: &Value) -> bool {
    const PARTS: &str = "input_text input_image input_file output_text";
    let kind = texts::kind(item);
    matches!(kind, "reasoning" | "item_reference")
        || ["_call", "_call_output"].iter().any(|end| kind.ends_with(end))
        || texts::parts(&item["content"]).iter().any(|part| texts::listed(PARTS, texts::kind(part)))
}

/// Whether only Anthropic has such a message: its answers, and messages with its blocks.
fn has_blocks(message: &Value) -> bool {
    let is_answer = texts::kind(message) == "message" && message.get("stop_reason").is_some();
    let is_block = |part: &Value| {
        let kind = texts::kind(part);
        let of_tools = kind.ends_with("tool_use") || kind.ends_with("tool_result");
        of_tools || ["thinking", "redacted_thinking"].contains(&kind) || part.get("source").is_some()
    };
    // an item's texts are called input or output
    let is_text = |part: &Value| texts::kind(message) == "message" && texts::kind(part) == "text";
    is_answer || texts::parts(&message["content"]).iter().any(|part| is_block(part) || is_text(part))
}
