//! Reduces a message to what goes to a model, in a form that providers accept.

use serde_json::{Value, json};

use crate::history::{Format, Request};
use utterd_domain::{
    Draft, More, Reason, Role, ToolCall,
    context::wording::{arguments, participant},
    draft::Field,
    history::{DropReason, Dropped, Entry, alternation::named},
};

/// Strips the messages of everything that does not go to a model; leaves out those that cannot go at all.
/// `field` is the request's field that holds them.
pub fn all(
    entries: impl Iterator<Item = Entry>,
    request: &Request,
    field: &'static str,
) -> (Vec<Entry>, Vec<Dropped>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for mut entry in entries {
        strip(&mut entry.draft, request.format);
        let most = request.max_content_bytes;
        if let Some(unusable) = entry.index.and_then(|index| unusable(&entry.draft, index, field, most)) {
            dropped.push(unusable);
            continue;
        }
        kept.push(entry);
    }
    (kept, dropped)
}

/// Removes what is for the caller's own use (seed 002, "What to Exclude"), and blank text, which providers
/// refuse. Names and arguments get the form in which Anthropic gets them, so that they are measured in it.
fn strip(draft: &mut Draft, format: Format) {
    if draft.role != Role::Tool && draft.content.trim().is_empty() {
        draft.content = Box::default();
    }
    let Some(more) = draft.more.take() else { return };
    let More { name, mut tool_calls, tool_call_id, .. } = *more;
    let name = name.filter(|_| draft.role != Role::Tool).map(|name| Box::from(participant(&name)));
    let mut kept = More { name, tool_call_id, ..More::default() };
    if format == Format::AnthropicMessages {
        tool_calls.iter_mut().for_each(|call| call.arguments_json = nested(call));
        if let Some(name) = kept.name.take().filter(|_| !draft.content.is_empty()) {
            draft.content = named(&name, &draft.content).into();
        }
    }
    kept.tool_calls = tool_calls;
    draft.more = (kept != More::default()).then(|| Box::new(kept));
}

fn unusable(draft: &Draft, index: usize, field: &'static str, most: usize) -> Option<Dropped> {
    let field = Field { list: field, index };
    // a result without a call id answers no call: that is found when calls and results are paired
    let refusal = draft.check(field, most, draft.role == Role::Tool).err()?;
    Some(match refusal.reason() {
        Reason::EmptyUtterance => {
            let text = format!("{}: there is neither text nor a call; accepted: either", field.at("content"));
            Dropped { index, reason: DropReason::Empty, text }
        }
        _ => Dropped::refused(index, &refusal),
    })
}

/// The arguments of a call as Anthropic gets them: an object that is not nested so deep that a parser of the request
/// stops in it, commonly at 128 levels.
fn nested(call: &ToolCall) -> Box<str> {
    let text = arguments(call, Format::AnthropicMessages);
    let within_request = format!("[[[[{text}]]]]");
    match serde_json::from_str::<Value>(&within_request) {
        Ok(nested) => nested[0][0][0][0].to_string().into(),
        Err(_) => json!({ "arguments": text }).to_string().into(),
    }
}
