//! Reduces a message to what goes to a model, in a form that providers accept.

use serde_json::{Value, json};

use crate::{
    domain::{
        Draft, More, Reason, Role, ToolCall,
        draft::Field,
        history::{DropReason, Dropped, Entry, alternation::put_name_in_text},
    },
    formats::history::{Format, Request},
};

/// Longest name of a speaker or a tool, in characters (OpenAI's limit).
const MAX_NAME: usize = 64;

/// Strips the messages of everything that does not go to a model; leaves out those that cannot go at all.
/// `field` is the request's field that holds them.
pub fn all(
    entries: impl Iterator<Item = Entry>,
    request: &Request,
    field: &'static str,
) -> (Vec<Entry>, Vec<Dropped>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for mut entry in entries {
        strip(&mut entry.draft);
        clean(&mut entry.draft);
        let most = request.max_content_bytes;
        if let Some(unusable) = entry.index.and_then(|index| unusable(&entry.draft, index, field, most)) {
            dropped.push(unusable);
            continue;
        }
        if request.format == Format::AnthropicMessages && entry.draft.role != Role::Tool {
            put_name_in_text(&mut entry);
            // before anything is measured: these are the tokens that go out
            for call in entry.draft.more.iter_mut().flat_map(|more| &mut more.tool_calls) {
                call.arguments_json = as_object(&call.arguments_json).to_string().into();
            }
        }
        kept.push(entry);
    }
    (kept, dropped)
}

/// Removes what is for the caller's own use (seed 002, "What to Exclude"), and blank text, which providers
/// refuse.
fn strip(draft: &mut Draft) {
    if draft.role != Role::Tool && draft.content.trim().is_empty() {
        draft.content = Box::default();
    }
    let Some(more) = draft.more.take() else { return };
    let More { name, tool_calls, tool_call_id, .. } = *more;
    let name = name.filter(|_| draft.role != Role::Tool);
    let kept = More { name, tool_calls, tool_call_id, ..More::default() };
    draft.more = (kept != More::default()).then(|| Box::new(kept));
}

fn unusable(draft: &Draft, index: usize, field: &'static str, most: usize) -> Option<Dropped> {
    let field = Field { list: field, index };
    let refusal = draft.check(field, most, false).err()?;
    Some(match refusal.reason() {
        Reason::EmptyUtterance => {
            let text = format!("{}: there is neither text nor a call; accepted: either", field.at("content"));
            Dropped { index, reason: DropReason::Empty, text }
        }
        _ => Dropped::refused(index, &refusal),
    })
}

fn clean(draft: &mut Draft) {
    let Some(more) = draft.more.as_mut() else { return };
    more.name = more.name.take().map(|name| cleaned(&name, is_in_names));
    for call in &mut more.tool_calls {
        clean_call(call);
    }
}

fn clean_call(call: &mut ToolCall) {
    call.name = cleaned(&call.name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if call.arguments_json.trim().is_empty() {
        call.arguments_json = "{}".into();
    }
}

/// OpenAI's pattern for names, `^[^\s<|\\/>]+$`, without control characters.
fn is_in_names(character: char) -> bool {
    !character.is_whitespace()
        && !character.is_control()
        && !matches!(character, '<' | '|' | '\\' | '/' | '>')
}

fn cleaned(text: &str, accepted: impl Fn(char) -> bool) -> Box<str> {
    let letters = text.chars().map(|character| if accepted(character) { character } else { '_' });
    letters.take(MAX_NAME).collect::<String>().into()
}

/// Returns the arguments as the object that Anthropic requires; wraps anything else in one.
fn as_object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(value @ Value::Object(_)) if depth(&value) <= MAX_DEPTH => value,
        _ => json!({ "arguments": arguments }),
    }
}

/// Maximum nesting of arguments that stay an object: JSON parsers commonly stop at 128 levels, and the
/// message itself takes some of those.
const MAX_DEPTH: usize = 100;

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
