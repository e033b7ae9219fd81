//! OpenAI's chat messages.

use serde_json::Value;

use crate::{
    openai_chat::{rename, write},
    render::{
        line::{kept, lines, renamed},
        rendered::Rendered,
    },
};
use utterd_domain::{context::Context, exchange::call_ids::Rule};

/// Some servers refuse a request with a duplicate id, and real transcripts reuse ids.
const IDS: Rule = Rule { accepts: |c| !c.is_control(), ..Rule::OPENAI_CHAT };

/// Of a usual message, what is not its text has fewer bytes.
const FIELDS_BYTES: usize = 64;

/// Writes `context`: one JSON message for each of its messages, as it came with the names and ids that are sent, or else
/// in its plain form.
pub(super) fn render(context: &Context) -> Rendered {
    let lines = lines(&context.messages, context.format, IDS);
    let bytes = lines.iter().map(|line| line.parts.content.len() + FIELDS_BYTES).sum();
    let mut messages_json = String::with_capacity(bytes);
    messages_json.push('[');
    for (line, message) in lines.iter().zip(&context.messages) {
        messages_json.push_str(if line.place > 0 { "," } else { "" });
        match kept(message) {
            Some(Value::Object(mut fields)) => {
                rename(&mut fields, &line.parts());
                messages_json.push_str(&Value::Object(fields).to_string());
            }
            _ => write(&line.parts(), &mut messages_json),
        }
    }
    messages_json.push(']');
    Rendered {
        messages_json,
        tokens: context.tokens,
        stable_messages: context.stable,
        renamed: renamed(&lines, &context.messages),
        places: (0..lines.len()).map(Some).collect(),
        ..Rendered::default()
    }
}
