//! OpenAI's chat messages.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::render::rendered::{Rendered, json, size};
use utterd_domain::{
    Role,
    context::{
        Context, Format, Message,
        wording::{arguments, participant, tool},
    },
    exchange::call_ids::{CallIds, Rule},
};

/// Some servers refuse a request with a duplicate id, and real transcripts reuse ids. A recurring id gets its
/// utterance's sequence as a suffix, and a refused one a hash, so that ids stay the same in the next
/// rendering with the same beginning.
const IDS: Rule = Rule { accepts: |c| !c.is_control(), recurs: false, hashes: true, ..Rule::OPENAI_CHAT };

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    /// An array of parts, verbatim.
    Parts(&'a RawValue),
}

#[derive(Serialize)]
struct Call<'a> {
    id: String,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

/// Writes `context`: one JSON message for each of its messages.
pub(super) fn render(context: &Context) -> Rendered {
    let mut ids = CallIds::by(IDS);
    let mut called: Vec<String> = Vec::new();
    let mut messages = Vec::with_capacity(context.messages.len());
    for message in &context.messages {
        let tool_calls = calls(message, &mut ids);
        if !tool_calls.is_empty() {
            called = tool_calls.iter().map(|call| call.id.clone()).collect();
        }
        messages.push(ChatMessage {
            role: message.role.as_str(),
            content: content(message),
            name: message.name().filter(|_| message.role != Role::Tool).map(participant),
            tool_calls,
            tool_call_id: match message.role {
                Role::Tool => called.get(message.answers).cloned(),
                Role::System | Role::User | Role::Assistant => None,
            },
        });
    }
    Rendered {
        messages_json: json(&messages, size(context)),
        tokens: context.tokens,
        stable_messages: context.stable,
        places: (0..messages.len()).map(Some).collect(),
        ..Rendered::default()
    }
}

/// The content; null only for a message that calls tools and says nothing.
fn content(message: &Message) -> Option<Content<'_>> {
    if let Some(parts) = message.content_parts().and_then(|parts| serde_json::from_str(parts).ok()) {
        return Some(Content::Parts(parts));
    }
    let says = !message.text().is_empty() || message.tool_calls().is_empty();
    says.then(|| Content::Text(message.text()))
}

fn calls<'a>(message: &'a Message, ids: &mut CallIds) -> Vec<Call<'a>> {
    let Some(utterance) = &message.utterance else { return Vec::new() };
    let call = |call: &'a utterd_domain::ToolCall| Call {
        id: ids.assign(&call.id, &format!("_{}", utterance.sequence)),
        r#type: "function",
        function: Function {
            name: tool(&call.name, Format::OpenAiChat),
            arguments: arguments(call, Format::OpenAiChat),
        },
    };
    message.tool_calls().iter().map(call).collect()
}
