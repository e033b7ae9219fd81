//! Anthropic's messages.
//!
//! Neighbours on the same side are one message with several content blocks. Each text is a block of its own,
//! so that the tokens of texts add up. A result follows its call directly, so it comes first in the user
//! message behind it.

use std::{borrow::Cow, collections::HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    anthropic::{PROVIDER, name_calls, side},
    extras::Filled,
    render::{
        line::{kept, lines, renamed},
        rendered::Rendered,
    },
    repair::Line,
    texts::{self, kind},
};
use utterd_domain::{
    Role,
    context::{
        Context, How, Message,
        wording::{SYSTEM_MARK, name_mark, says},
    },
    exchange::call_ids::Rule,
};

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Filled<'a>>,
    /// The last message of the context that it contains.
    #[serde(skip)]
    last: usize,
}

/// Writes `context`: the system messages at its head separately, the rest alternating.
pub(super) fn render(context: &Context) -> Rendered {
    let (head, rest) = context.messages.split_at(context.head.min(context.messages.len()));
    let system = head.iter().map(Message::text).filter(|text| says(text, context.format));
    let system: Vec<Value> = system.map(text).collect();
    let lines = lines(rest, context.format, Rule::ANTHROPIC);
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut places = vec![None; head.len()];
    for ((message, line), index) in rest.iter().zip(&lines).zip(head.len()..) {
        let role = side(message.role);
        if turns.last().is_none_or(|turn| turn.role != role) {
            turns.push(Turn { role, content: Vec::new(), last: index });
        }
        if let Some(turn) = turns.last_mut() {
            turn.content.extend(blocks(message, line));
            turn.last = index;
        }
        places.push(Some(turns.len() - 1));
    }
    settle_servers(&mut turns);
    settle_end(&mut turns);
    Rendered {
        messages_json: serde_json::to_string(&turns).unwrap_or_default(),
        system_json: if system.is_empty() { String::new() } else { Value::Array(system).to_string() },
        tokens: context.tokens,
        stable_messages: stable(context, &turns),
        renamed: renamed(&lines, rest),
        places,
        ..Rendered::default()
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The blocks of a message: as it came, with the names and ids that are sent, or else as it is written.
fn blocks<'a>(message: &Message, line: &'a Line<'_>) -> Vec<Filled<'a>> {
    let (parts, kept) = (line.parts(), kept(message));
    let mark = match (message.role, message.name()) {
        (Role::System, _) if message.utterance.is_some() => Some(text(SYSTEM_MARK)),
        (Role::User, Some(name)) => Some(text(&name_mark(name))),
        _ => None,
    };
    let mut blocks: Vec<Filled<'_>> = mark.into_iter().map(whole).collect();
    if let Some(Value::Array(mut kept)) = kept.filter(|kept| !texts::parts(kept).is_empty()) {
        name_calls(&mut kept, &parts);
        blocks.extend(kept.into_iter().map(whole));
        return blocks;
    }
    let Value::Array(mut plain) = (PROVIDER.canonical)(&parts) else { return blocks };
    if parts.content.is_empty() {
        let results = plain.iter_mut().filter_map(Value::as_object_mut);
        results.for_each(|result| drop(result.shift_remove("content")));
    }
    blocks.extend(plain.into_iter().map(|block| Filled { template: Cow::Owned(block), parts: Some(parts) }));
    blocks
}

fn whole<'a>(block: Value) -> Filled<'a> {
    Filled { template: Cow::Owned(block), parts: None }
}

/// Turns calls and results of a provider's own tools into text where one is without the other: the API refuses them. Of
/// a turn that was paused, and that nobody has answered, the calls stay open.
fn settle_servers(turns: &mut [Turn<'_>]) {
    let is_result = |block: &Filled<'_>| kind(&block.template) == "tool_result";
    let answered = |turn: &Turn<'_>| turn.role == "user" && !turn.content.iter().all(is_result);
    let last_answered = turns.iter().rposition(answered).unwrap_or(0);
    let ids = |end: &str, id: &str| -> HashSet<String> {
        let blocks = turns.iter().flat_map(|turn| &turn.content).filter_map(|block| served(block, end));
        blocks.filter_map(|block| Some(block[id].as_str()?.to_owned())).collect()
    };
    let (calls, results) = (ids(USE, "id"), ids(RESULT, "tool_use_id"));
    let alone = |block: &Filled<'_>, at: usize| match (served(block, USE), served(block, RESULT)) {
        (Some(call), _) => at < last_answered && !call["id"].as_str().is_some_and(|id| results.contains(id)),
        (_, Some(result)) => !result["tool_use_id"].as_str().is_some_and(|id| calls.contains(id)),
        _ => false,
    };
    for (at, turn) in turns.iter_mut().enumerate() {
        for block in turn.content.iter_mut().filter(|block| alone(block, at)) {
            let said = texts::of(&block.template);
            let said = if said.is_empty() { format!("[{}]", kind(&block.template)) } else { said };
            block.template = Cow::Owned(text(&said));
        }
    }
}

/// How the types of the calls and results of a provider's own tools end.
const USE: &str = "_tool_use";
const RESULT: &str = "_tool_result";

fn served<'b>(block: &'b Filled<'_>, end: &str) -> Option<&'b Value> {
    Some(&*block.template).filter(|block| kind(block).ends_with(end))
}

/// The API refuses white space at the end of a final assistant message.
fn settle_end(turns: &mut [Turn<'_>]) {
    let last = turns.last_mut().filter(|last| last.role == "assistant");
    let block = last.and_then(|last| last.content.last_mut());
    if let Some(Value::String(text)) = block.and_then(|block| block.template.to_mut().get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}

/// The number of messages that stay and that nothing will be added to.
fn stable(context: &Context, turns: &[Turn<'_>]) -> usize {
    let stable = turns.iter().take_while(|turn| turn.last < context.stable).count();
    let next = context.messages[context.stable.min(context.messages.len())..]
        .iter()
        .find(|message| message.how != How::Recalled);
    let closed = next.is_some_and(|next| stable > 0 && turns[stable - 1].role != side(next.role));
    if closed { stable } else { stable.saturating_sub(1) }
}
