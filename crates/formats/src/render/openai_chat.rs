//! OpenAI's chat messages.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

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
#[serde(untagged)]
enum Written<'a> {
    Plain(ChatMessage<'a>),
    /// As it came.
    Kept(Value),
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
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
        let tool_call_id = match message.role {
            Role::Tool => called.get(message.answers).cloned(),
            Role::System | Role::User | Role::Assistant => None,
        };
        messages.push(match kept(message, &tool_calls, tool_call_id.as_deref()) {
            Some(kept) => Written::Kept(kept),
            None => Written::Plain(ChatMessage {
                role: message.role.as_str(),
                content: content(message),
                name: message.name().filter(|_| is_whole(message)).map(participant),
                tool_calls,
                tool_call_id,
            }),
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

/// Whether it is no result that says something else by now: that has no name.
fn is_whole(message: &Message) -> bool {
    message.role != Role::Tool || message.instead.is_none()
}

/// The content; null only for a message that calls tools and says nothing.
fn content(message: &Message) -> Option<&str> {
    let says = !message.text().is_empty() || message.tool_calls().is_empty();
    says.then(|| message.text())
}

/// The message as it came, with the names and ids that are sent.
fn kept(message: &Message, calls: &[Call<'_>], tool_call_id: Option<&str>) -> Option<Value> {
    let mut kept: Value = serde_json::from_str(message.content_parts()?).ok()?;
    let fields = kept.as_object_mut()?;
    if let Some(name) = fields.get_mut("name") {
        *name = message.name().map(participant).into();
    }
    if let Some(id) = tool_call_id {
        fields.insert("tool_call_id".into(), id.into());
    }
    let own = fields.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
    for (own, call) in own.filter_map(Value::as_object_mut).zip(calls) {
        own.insert("id".into(), call.id.as_str().into());
        if let Some(function) = own.get_mut("function").and_then(Value::as_object_mut) {
            function.insert("name".into(), (*call.function.name).into());
            function.insert("arguments".into(), (*call.function.arguments).into());
        } else if let Some(custom) = own.get_mut("custom").and_then(Value::as_object_mut) {
            custom.insert("name".into(), (*call.function.name).into());
        }
    }
    Some(kept)
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
