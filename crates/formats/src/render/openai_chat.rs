//! OpenAI's chat messages.

use std::{borrow::Cow, collections::HashMap};

use serde_json::Value;

use crate::{
    extras::Filled,
    openai_chat::{PROVIDER, rename},
    render::{
        line::{kept, lines, renamed},
        rendered::Rendered,
    },
    repair::Line,
};
use utterd_domain::{Role, context::Context, exchange::call_ids::Rule};

/// Some servers refuse a request with a duplicate id, and real transcripts reuse ids.
const IDS: Rule = Rule { accepts: |c| !c.is_control(), ..Rule::OPENAI_CHAT };

/// Writes `context`: one JSON message for each of its messages.
pub(super) fn render(context: &Context) -> Rendered {
    let lines = lines(&context.messages, context.format, IDS);
    let mut plain = HashMap::new();
    for line in &lines {
        plain.entry(shape(line)).or_insert_with(|| (PROVIDER.canonical)(&line.parts()));
    }
    let both = lines.iter().zip(&context.messages);
    let messages: Vec<Filled<'_>> =
        both.map(|(line, message)| written(line, kept(message), &plain[&shape(line)])).collect();
    Rendered {
        messages_json: serde_json::to_string(&messages).unwrap_or_default(),
        tokens: context.tokens,
        stable_messages: context.stable,
        renamed: renamed(&lines, &context.messages),
        places: (0..messages.len()).map(Some).collect(),
        ..Rendered::default()
    }
}

/// What the form of a message depends on: most messages of a context have the same.
type Shape = (Role, [bool; 3], usize);

fn shape(line: &Line<'_>) -> Shape {
    let parts = line.parts();
    let has = [!parts.content.is_empty(), parts.name().is_some(), parts.tool_call_id().is_some()];
    (parts.role, has, parts.calls().len())
}

/// The message as it came, with the names and ids that are sent, or else in its `plain` form.
fn written<'a>(line: &'a Line<'_>, kept: Option<Value>, plain: &'a Value) -> Filled<'a> {
    let parts = line.parts();
    let Some(Value::Object(mut fields)) = kept else {
        return Filled { template: Cow::Borrowed(plain), parts: Some(parts) };
    };
    rename(&mut fields, &parts);
    Filled { template: Cow::Owned(Value::Object(fields)), parts: None }
}
