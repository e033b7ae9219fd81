//! What is read of a file, and what that takes, grows with the file and not faster, however it is made.
//!
//! Allocations are counted, and no clock is involved.

use std::env;

use serde_json::{Value, json};

use crate::{Format, UnknownRoles, document::parse};

/// The bytes of the largest file, unless `UTTERD_IMPORT_BYTES` sets another number; the smallest has a quarter.
const LARGEST: usize = 1 << 20;
/// What four times the file may take: as many times as much, and what tables and lists take as they grow.
const MOST: f64 = 6.0;

/// A file with `count` messages, or twice as many.
type Shape = fn(count: usize) -> String;

#[test]
fn every_reader_is_linear() {
    let largest = env::var("UTTERD_IMPORT_BYTES").map_or(LARGEST, |bytes| bytes.parse().unwrap());
    for (name, format, shape) in shapes() {
        let each = shape(1_000).len() / 1_000;
        let [less, more] = [largest / 4, largest].map(|bytes| read(format, &shape(bytes / each)));
        for ((what, less), (_, more)) in less.into_iter().zip(more) {
            assert!(more <= MOST * less + 1e4, "{name}: {what} grow from {less} to {more}");
        }
    }
}

/// What reading a file makes and takes.
fn read(format: Format, file: &str) -> [(&'static str, f64); 4] {
    let mut made = 0;
    let taken = allocation_counter::measure(|| {
        let source = parse(file.as_bytes(), Some(format), UnknownRoles::Refuse);
        let said = |source: &crate::Source| source.conversations.iter().map(|it| it.said.len() + 1).sum();
        made = source.as_ref().map_or(0, said);
    });
    [
        ("utterances", made as f64),
        ("allocations", taken.count_total as f64),
        ("allocated bytes", taken.bytes_total as f64),
        ("bytes at once", taken.bytes_max as f64),
    ]
}

fn shapes() -> Vec<(&'static str, Format, Shape)> {
    vec![
        ("chat", Format::OpenAiChat, |count| array(count, chat)),
        ("chat with calls", Format::OpenAiChat, |count| array(count, |at| chat_call(at, at))),
        ("chat with calls of one id", Format::OpenAiChat, |count| array(count, |at| chat_call(at, 0))),
        ("chat with results alone", Format::OpenAiChat, |count| array(count, chat_result)),
        ("items", Format::OpenAiResponses, |count| array(count, |at| item(at, at))),
        ("items of one id", Format::OpenAiResponses, |count| array(count, |at| item(at, 0))),
        ("blocks", Format::Anthropic, |count| array(count, |at| block(at, at))),
        ("blocks of one id", Format::Anthropic, |count| array(count, |at| block(at, 0))),
        ("persisted", Format::Persisted, |count| persisted(count, |at| format!("m{at}"))),
        ("persisted of one id", Format::Persisted, |count| persisted(count, |_| "m".to_owned())),
        ("many conversations", Format::Persisted, |count| {
            let one = |at| json!({"id": format!("c{at}"), "messages": []});
            json!({"conversations": (0..count).map(one).collect::<Vec<_>>()}).to_string()
        }),
        ("legacy", Format::Legacy, |count| {
            array(
                count,
                |at| json!({"id": format!("m{at}"), "userMessage": "Hello.", "assistantResponse": "Hi."}),
            )
        }),
        ("ChatGPT", Format::ChatGpt, |count| chatgpt(count, |at| at.checked_sub(1))),
        ("ChatGPT, a star", Format::ChatGpt, |count| chatgpt(count, |at| (at > 0).then_some(0))),
        ("ChatGPT, a ladder", Format::ChatGpt, |count| chatgpt(count, ladder)),
        ("ChatGPT, long branches", Format::ChatGpt, |count| chatgpt_of(800, &"x".repeat(count / 8), ladder)),
        ("ChatGPT, a circle", Format::ChatGpt, |count| {
            chatgpt(count, |at| Some(at.saturating_sub(1).max(1)))
        }),
        ("Claude", Format::Claude, |count| claude(count, |at| at.checked_sub(1))),
        ("Claude, a ladder", Format::Claude, |count| claude(count, ladder)),
        ("Claude Code", Format::ClaudeCode, |count| claude_code(count, |at| at.checked_sub(1))),
        ("Claude Code, a star", Format::ClaudeCode, |count| claude_code(count, |at| (at > 0).then_some(0))),
        ("Claude Code, a ladder", Format::ClaudeCode, |count| claude_code(count, ladder)),
        ("Claude Code, branches of one answer", Format::ClaudeCode, |count| {
            let star = |at: usize| if at < count / 2 { at.checked_sub(1) } else { Some(count / 2) };
            claude_code_of(count, |_| "assistant", star)
        }),
        ("Claude Code, branches after lines that are hidden", Format::ClaudeCode, |count| {
            let branch = |at: usize| {
                json!({"uuid": format!("b{at}"), "parentUuid": format!("m{}", count / 2),
                "sessionId": "s", "type": "assistant", "message": {"role": "assistant", "content": "Hello."}})
            };
            let hidden = |at: usize| {
                json!({"uuid": format!("m{at}"), "parentUuid": format!("m{}", at.wrapping_sub(1)),
                "sessionId": "s", "type": "assistant", "isMeta": at > 0, "message": {"role": "assistant", "content": "Hello."}})
            };
            lines((0..=count / 2).map(hidden).chain((0..count / 2).map(branch)))
        }),
        ("Claude Code, roots", Format::ClaudeCode, |count| claude_code(count, |_| None)),
        ("Codex", Format::Codex, |count| codex(count, |_| 0)),
        ("Codex, each turn rolled back", Format::Codex, |count| codex(count, |_| 1)),
        ("Codex, half of it rolled back, turn by turn", Format::Codex, |count| {
            codex(count, move |at| u64::from(at > count / 2))
        }),
        ("Codex, every other turn rolled back", Format::Codex, |count| codex(count, |at| (at % 2) as u64)),
    ]
}

fn array(count: usize, message: impl Fn(usize) -> Value) -> String {
    let mut messages: Vec<Value> = Vec::new();
    for at in 0..count {
        match message(at) {
            Value::Array(several) => messages.extend(several),
            one => messages.push(one),
        }
    }
    Value::Array(messages).to_string()
}

fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

/// Each message has two after it, of which one goes on.
fn ladder(at: usize) -> Option<usize> {
    at.checked_sub(1 + at % 2)
}

fn chat(at: usize) -> Value {
    json!({"role": if at.is_multiple_of(2) { "user" } else { "assistant" }, "content": format!("Message {at}.")})
}

fn chat_call(at: usize, id: usize) -> Value {
    let function = json!({"name": "find", "arguments": "{}"});
    json!([
        {"role": "user", "content": format!("Message {at}.")},
        {"role": "assistant", "tool_calls": [{"id": format!("c{id}"), "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": format!("c{id}"), "content": "found"},
    ])
}

fn chat_result(at: usize) -> Value {
    json!({"role": "tool", "tool_call_id": format!("c{at}"), "content": "found"})
}

fn item(at: usize, id: usize) -> Value {
    json!([
        {"type": "message", "role": "user", "content": format!("Message {at}.")},
        {"type": "function_call", "call_id": format!("c{id}"), "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": format!("c{id}"), "output": "found"},
    ])
}

fn block(at: usize, id: usize) -> Value {
    json!([
        {"role": "user", "content": format!("Message {at}.")},
        {"role": "assistant", "content": [{"type": "tool_use", "id": format!("c{id}"), "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("c{id}"), "content": "found"}]},
    ])
}

fn persisted(count: usize, id: impl Fn(usize) -> String) -> String {
    let message =
        |at| json!({"id": id(at), "timestamp": "2026-01-01T10:00:00.000Z", "role": "user", "content": "Hi."});
    json!({"id": "c", "startedAt": "2026-01-01T10:00:00.000Z", "messages": (0..count).map(message).collect::<Vec<_>>()})
        .to_string()
}

fn chatgpt(count: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    chatgpt_of(count, "Hello.", parent)
}

fn chatgpt_of(count: usize, text: &str, parent: impl Fn(usize) -> Option<usize>) -> String {
    let node = |at: usize| {
        let author = json!({"role": if at.is_multiple_of(2) { "user" } else { "assistant" }});
        let content = json!({"content_type": "text", "parts": [text]});
        let message = json!({"id": format!("n{at}"), "author": author, "content": content});
        let parent = parent(at).map(|at| format!("n{at}"));
        (format!("n{at}"), json!({"message": message, "parent": parent}))
    };
    json!([{"id": "c", "mapping": (0..count).map(node).collect::<serde_json::Map<_, _>>()}]).to_string()
}

fn claude(count: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    let message = |at: usize| {
        let sender = if at.is_multiple_of(2) { "human" } else { "assistant" };
        let parent = parent(at).map(|at| format!("n{at}"));
        json!({"uuid": format!("n{at}"), "sender": sender, "text": "Hello.", "parent_message_uuid": parent})
    };
    json!([{"uuid": "c", "chat_messages": (0..count).map(message).collect::<Vec<_>>()}]).to_string()
}

fn claude_code(count: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    claude_code_of(count, |at| if at.is_multiple_of(2) { "user" } else { "assistant" }, parent)
}

fn claude_code_of(
    count: usize,
    role: impl Fn(usize) -> &'static str,
    parent: impl Fn(usize) -> Option<usize>,
) -> String {
    lines((0..count).map(|at| {
        let role = role(at);
        let parent = parent(at).map(|at| format!("n{at}"));
        let message = json!({"role": role, "content": "Hello."});
        json!({"uuid": format!("n{at}"), "parentUuid": parent, "sessionId": "s", "type": role, "message": message})
    }))
}

/// A message of the user and one of the model; after each, turns are rolled back.
fn codex(count: usize, turns: impl Fn(usize) -> u64) -> String {
    let about = json!({"type": "session_meta", "timestamp": "2026-01-01T10:00:00Z", "payload": {"id": "s"}});
    let turn = move |at: usize| {
        let said = |role: &str, kind: &str| {
            let content = json!([{"type": kind, "text": format!("Message {at}.")}]);
            let item = json!({"type": "message", "role": role, "content": content});
            json!({"type": "response_item", "timestamp": "2026-01-01T10:00:00Z", "payload": item})
        };
        let event = json!({"type": "thread_rolled_back", "num_turns": turns(at)});
        let rolled_back = json!({"type": "event_msg", "timestamp": "2026-01-01T10:00:00Z", "payload": event});
        [said("user", "input_text"), said("assistant", "output_text"), rolled_back]
    };
    lines(std::iter::once(about).chain((0..count).flat_map(turn)))
}
