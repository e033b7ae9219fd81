//! The messages of a context with the ids, names and arguments that a provider accepts.

use serde_json::Value;

use crate::{extras::Parts, repair::Line};
use utterd_domain::{
    More, Role, ToolCall,
    context::{
        Format, Message,
        wording::{arguments, participant, says, tool},
    },
    exchange::call_ids::{CallIds, Rule},
};

/// The messages of `context` in `format`, whose provider accepts call ids by this rule.
///
/// A recurring id gets its utterance's sequence as a suffix, and a refused one a hash, so that ids stay the same in the
/// next rendering with the same beginning.
pub fn lines<'m>(messages: &'m [Message], format: Format, ids: Rule) -> Vec<Line<'m>> {
    let mut ids = CallIds::by(Rule { recurs: false, hashes: true, ..ids });
    // the ids of the most recent calls
    let mut called: Vec<Box<str>> = Vec::new();
    let mut more = |message: &Message| {
        let sequence = message.utterance.as_ref().map_or(0, |utterance| utterance.sequence.0);
        let call = |call: &ToolCall| ToolCall {
            id: ids.assign(&call.id, &format!("_{sequence}")).into(),
            name: tool(&call.name, format).into(),
            arguments_json: arguments(call, format).into(),
        };
        let tool_calls: Vec<ToolCall> = message.tool_calls().iter().map(call).collect();
        if !tool_calls.is_empty() {
            called = tool_calls.iter().map(|call| call.id.clone()).collect();
        }
        let is_result = message.role == Role::Tool;
        // a result that says something else by now has no name
        let name = message.name().filter(|_| !is_result || message.instead.is_none());
        More {
            name: name.map(|name| participant(name).into()),
            tool_call_id: called.get(message.answers).filter(|_| is_result).cloned(),
            tool_calls,
            ..More::default()
        }
    };
    let line = |(place, message): (usize, &'m Message)| {
        let text = if says(message.text(), format) { message.text() } else { "" };
        let parts = Parts { role: message.role, content: text, more: None, id: None, time: None };
        let said = message.utterance.as_ref();
        let has_more = message.role == Role::Tool || said.is_some_and(|said| said.more.is_some());
        Line { place, parts, changed: has_more.then(|| Box::new(more(message))), note: None }
    };
    messages.iter().enumerate().map(line).collect()
}

/// How many calls have another id in `lines` than in `messages`, for which these are.
pub fn renamed(lines: &[Line<'_>], messages: &[Message]) -> usize {
    let both = lines.iter().zip(messages);
    let calls = both.flat_map(|(line, message)| {
        line.changed.iter().flat_map(|more| &more.tool_calls).zip(message.tool_calls())
    });
    calls.filter(|(sent, call)| sent.id != call.id).count()
}

/// A message as it came, or its blocks, if it goes out so.
pub fn kept(message: &Message) -> Option<Value> {
    serde_json::from_str(message.content_parts()?).ok()
}
