//! Random messages of each format.

use proptest::prelude::*;
use serde_json::{Value, json};

use utterd::formats::{Format, Repairs, Unanswered, UnknownRoles, parse};

use crate::formats::{exported, faults::faults, given_out, json, through};

/// A text; sometimes empty, sometimes awkward.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-zü ]{1,12}", 1 => Just(String::new()), 1 => ".{0,8}"]
}

/// A call id: few, so that they recur and are answered.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[ab]", 1 => Just("a.b".to_owned()), 1 => Just("x".repeat(270)), 1 => Just(String::new())]
}

/// `value` with additional or changed fields.
fn with_more(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    (value, prop::option::weighted(0.3, ("[a-e]", json()))).prop_map(|(mut value, more)| {
        if let (Some((name, more)), Some(fields)) = (more, value.as_object_mut()) {
            fields.insert(name, more);
        }
        value
    })
}

fn part(kind: &'static str) -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => with_more(text().prop_map(move |text| json!({"type": kind, "text": text}))),
        1 => json().prop_map(|it| json!({"type": "image", "source": it})),
    ]
}

fn content(kind: &'static str) -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => prop::collection::vec(part(kind), 0..4).prop_map(Value::from),
    ]
}

fn chat_call() -> impl Strategy<Value = Value> {
    let arguments =
        prop_oneof![3 => Just(json!("{\"x\": 1}")), 1 => text().prop_map(Value::from), 1 => json()]
            .prop_filter("the arguments are given", |it| !it.is_null());
    with_more((id(), arguments).prop_map(|(id, arguments)| {
        json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
    }))
}

pub fn chat_message() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "user", "system", "developer", "assistant", "Human", "AI"]);
    let plain = (role, content("text")).prop_map(|(role, content)| json!({"role": role, "content": content}));
    let calls = (content("text"), prop::collection::vec(chat_call(), 0..3))
        .prop_map(|(content, calls)| json!({"role": "assistant", "content": content, "tool_calls": calls}));
    let result = (id(), content("text"))
        .prop_map(|(id, content)| json!({"role": "tool", "tool_call_id": id, "content": content}));
    prop_oneof![3 => with_more(plain), 2 => with_more(calls), 3 => with_more(result)]
}

fn block() -> impl Strategy<Value = Value> {
    let call = (id(), json())
        .prop_map(|(id, input)| json!({"type": "tool_use", "id": id, "name": "f", "input": input}));
    let result = (id(), content("text"))
        .prop_map(|(id, content)| json!({"type": "tool_result", "tool_use_id": id, "content": content}));
    let thinking = text().prop_map(|text| json!({"type": "thinking", "thinking": text, "signature": "s"}));
    prop_oneof![3 => part("text"), 2 => with_more(call), 3 => with_more(result), 1 => thinking]
}

pub fn anthropic_message() -> impl Strategy<Value = Value> {
    let content = prop_oneof![
        1 => text().prop_map(Value::from),
        3 => prop::collection::vec(block(), 0..4).prop_map(Value::from),
    ];
    let role = prop::sample::select(vec![
        "user",
        "assistant",
        "user",
        "assistant",
        "system",
        "Human",
        "bot",
        "tool",
    ]);
    with_more((role, content).prop_map(|(role, content)| json!({"role": role, "content": content})))
}

pub fn item() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec![
        "user",
        "assistant",
        "assistant",
        "developer",
        "human",
        "Model",
        "function",
    ]);
    let message = (role, content("output_text"))
        .prop_map(|(role, content)| json!({"type": "message", "role": role, "content": content}));
    let call = (id(), text())
        .prop_map(|(id, it)| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": it}));
    let result = (id(), content("input_text"))
        .prop_map(|(id, it)| json!({"type": "function_call_output", "call_id": id, "output": it}));
    let other = json().prop_map(|it| json!({"type": "reasoning", "id": "r", "summary": it}));
    prop_oneof![2 => with_more(message), 2 => with_more(call), 2 => with_more(result), 1 => other]
}

fn persisted() -> impl Strategy<Value = Value> {
    let time = prop::sample::select(vec!["2025-01-15T10:00:00Z", "2025-01-15T10:00:00.120Z", "2025-02-01"]);
    let role = prop::sample::select(vec!["user", "assistant", "human", "AI"]);
    let tools = prop::option::of(prop::collection::vec("[a-c]{1,3}", 0..3));
    let message = (id(), time, role, text(), tools).prop_map(|(id, time, role, content, tools)| {
        let mut message = json!({"id": id, "timestamp": time, "role": role, "content": content});
        if let Some(tools) = tools {
            message["toolsUsed"] = tools.into();
        }
        message
    });
    let title = prop::option::of(text());
    (prop::collection::vec(with_more(message), 1..6), title).prop_map(|(messages, title)| {
        json!({"id": "conv-1", "startedAt": "2025-01-15T10:00:00.000Z", "endedAt": null, "title": title,
            "summary": title, "messages": messages})
    })
}

pub fn list(message: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(message, 0..10).prop_map(Value::from)
}

proptest! {
    #[test]
    fn chat_messages_come_out_as_they_went_in(messages in list(chat_message())) {
        prop_assert_eq!(through(&messages, Format::OpenAiChat, Format::OpenAiChat), [messages]);
    }

    #[test]
    fn anthropic_messages_come_out_as_they_went_in(messages in list(anthropic_message()), system in prop::option::of(content("text"))) {
        prop_assert_eq!(through(&messages, Format::Anthropic, Format::Anthropic), [messages.clone()]);
        if let Some(system) = system.filter(|system| !system.is_null()) {
            let request = json!({"model": "m", "system": system, "messages": messages});
            prop_assert_eq!(through(&request, Format::Anthropic, Format::Anthropic), [request]);
        }
    }

    #[test]
    fn items_come_out_as_they_went_in(items in list(item())) {
        prop_assert_eq!(through(&items, Format::OpenAiResponses, Format::OpenAiResponses), [items.clone()]);
        if items.as_array().is_some_and(|items| !items.is_empty()) {
            let request = json!({"input": items, "instructions": "Be kind.", "model": "m"});
            prop_assert_eq!(through(&request, Format::OpenAiResponses, Format::OpenAiResponses), [request]);
        }
    }

    #[test]
    fn persisted_conversations_come_out_as_they_went_in(conversation in persisted()) {
        let file = json!({"conversations": [conversation]});
        prop_assert_eq!(through(&file, Format::Persisted, Format::Persisted), [conversation]);
    }
}

proptest! {
    /// Single messages, as written by programs that place spaces freely.
    #[test]
    fn every_message_comes_back_byte_for_byte(
        chat in list(chat_message()), anthropic in list(anthropic_message()), items in list(item()),
        pretty in any::<bool>(),
    ) {
        let of = [(chat, Format::OpenAiChat), (anthropic, Format::Anthropic), (items, Format::OpenAiResponses)];
        for (messages, format) in of {
            let messages = messages.as_array().cloned().unwrap_or_default();
            let write = |message: &Value| match pretty {
                true => serde_json::to_string_pretty(message).expect("it is written"),
                false => message.to_string(),
            };
            let list: Vec<String> = messages.iter().map(write).collect();
            prop_assert_eq!(given_out(&list, format), list);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_goes_to_another_format_is_sound(
        chat in list(chat_message()), anthropic in list(anthropic_message()), items in list(item()),
        close in any::<bool>(),
    ) {
        let formats = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];
        let unanswered = if close { Unanswered::Close } else { Unanswered::LeaveOut };
        for (value, format) in [chat, anthropic, items].iter().zip(formats) {
            let source = parse(value.to_string().as_bytes(), Some(format), UnknownRoles::Refuse).expect("it is read");
            for parsed in &source.conversations {
                for target in formats.into_iter().filter(|target| *target != format) {
                    let (value, _) = exported(parsed, target, Repairs { unanswered, all: false });
                    prop_assert_eq!(faults(&value, target), Vec::<String>::new(), "{}", value);
                    prop_assert_eq!(through(&value, target, target), [value]);
                }
            }
        }
    }

    #[test]
    fn no_file_makes_it_panic(value in json(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        for format in Format::ALL.map(Some).into_iter().chain([None]) {
            let _ = parse(value.to_string().as_bytes(), format, UnknownRoles::Refuse);
            let _ = parse(json!([value, value]).to_string().as_bytes(), format, UnknownRoles::Refuse);
            let _ = parse(json!({"messages": [value], "conversations": [{"messages": [value]}]}).to_string().as_bytes(), format, UnknownRoles::Refuse);
            let _ = parse(&bytes, format, UnknownRoles::Refuse);
        }
    }
}
