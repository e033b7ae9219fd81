//! PrepareHistory with any JSON, and with plausible histories.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};
use utterd::{
    domain::{
        Encoding, Refusal,
        history::{Limits, alternation::Alternation, recall::Recall},
    },
    formats::history::{Format, Prepared, Request, prepare, prompt, read::read},
    tokenizer,
};

use crate::contexts::validator::{Fault, anthropic, openai};

fn prepared(json: &str, text: &str, request: &Request) -> Result<Prepared, Refusal> {
    let prompt = (!text.is_empty()).then(|| prompt(text));
    prepare(read(json)?, prompt, request, tokenizer::counter(Encoding::O200kBase))
}

fn faults(prepared: &Prepared, format: Format) -> Vec<Fault> {
    match format {
        // Without a prompt, nothing might be left.
        _ if prepared.messages_json == "[]" => Vec::new(),
        Format::OpenAiChat | Format::Text => openai::faults(&prepared.messages_json),
        Format::AnthropicMessages => {
            let mut faults = anthropic::faults(&prepared.messages_json);
            if !prepared.system.is_empty() {
                faults.extend(anthropic::system_faults(&json!(prepared.system)));
            }
            faults
        }
    }
}

/// Any JSON, with the vocabulary of messages among its keys and texts.
fn any_json() -> impl Strategy<Value = Value> {
    let word = select(vec![
        "role",
        "content",
        "user",
        "assistant",
        "tool",
        "system",
        "tool_calls",
        "tool_call_id",
        "id",
        "function",
        "name",
        "arguments",
        "type",
        "text",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "input",
        "a",
        "b",
        "",
    ]);
    let text = prop_oneof![3 => word.clone().prop_map(str::to_owned), 1 => any::<String>()];
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        4 => text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let fields = prop::collection::vec((text.clone(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::from),
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["", " ", "yes", "a longer answer, in words ", "\u{1f600}\n"]).prop_map(str::to_owned),
        any::<String>()
    ]
}

/// A message that is usually valid.
fn message() -> impl Strategy<Value = Value> {
    let id = || select(vec!["a", "b", "a:b", "a b", ""]);
    let arguments = select(vec!["{}", "{\"a\": 1}", "[1]", "no JSON", ""]);
    let call = (id(), select(vec!["find", "a.b", ""]), arguments)
        .prop_map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}));
    let name = select(vec![None, None, Some("Ann"), Some("Bob Lee")]);
    let calls = prop::collection::vec(call, 0..4);
    let uses = || prop::collection::vec((id(), text()), 1..3);
    prop_oneof![
        2 => text().prop_map(|text| json!({"role": "system", "content": text})),
        4 => (text(), name).prop_map(|(text, name)| json!({"role": "user", "content": text, "name": name})),
        4 => text().prop_map(|text| json!({"role": "assistant", "content": text, "id": 7})),
        4 => (text(), calls).prop_map(|(text, calls)| json!({"role": "assistant", "content": text, "tool_calls": calls})),
        6 => (id(), text()).prop_map(|(id, text)| json!({"role": "tool", "tool_call_id": id, "content": text})),
        2 => uses().prop_map(|uses| {
            let block = |(id, text)| json!({"type": "tool_use", "id": id, "name": "find", "input": {"a": text}});
            json!({"role": "assistant", "content": uses.into_iter().map(block).collect::<Vec<_>>()})
        }),
        2 => uses().prop_map(|uses| {
            let block = |(id, text)| json!({"type": "tool_result", "tool_use_id": id, "content": text});
            json!({"role": "user", "content": uses.into_iter().map(block).collect::<Vec<_>>()})
        }),
        1 => any_json(),
    ]
}

fn request() -> impl Strategy<Value = Request> {
    let limits = (0..30usize, 80..2_000usize, prop::option::of(8..300u32));
    let alternation =
        select(vec![Alternation::Merge, Alternation::Merge, Alternation::Drop, Alternation::Reject]);
    let format = select(vec![Format::OpenAiChat, Format::AnthropicMessages]);
    (limits, alternation, format, prop::option::of(recall())).prop_map(
        |((messages, bytes, tokens), alternation, format, recall)| Request {
            limits: Limits { messages, bytes, tokens },
            alternation,
            format,
            recall,
            ..Request::default()
        },
    )
}

fn recall() -> impl Strategy<Value = Recall> {
    (
        select(vec!["yes", "a longer answer"]),
        prop::option::of(1..4usize),
        1..=100u32,
        prop::option::of(0.0..=1.0),
    )
        .prop_map(|(prompt, matches, percent, min_relevance)| Recall {
            prompt: prompt.to_owned(),
            matches,
            percent,
            min_relevance,
        })
}

/// Arguments that are not an object are wrapped in one, and counted in that form.
#[test]
fn arguments_are_counted_as_they_are_written() {
    for arguments in ["[1]", "not JSON", "{ \"a\":  1.0 }", ""] {
        let call =
            json!({"id": "a", "type": "function", "function": {"name": "find", "arguments": arguments}});
        let history = json!([
            {"role": "user", "content": "find it"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "found"},
        ]);
        let request = Request { format: Format::AnthropicMessages, ..Request::default() };
        let once = prepared(&history.to_string(), "", &request).unwrap();
        let twice = prepared(&once.messages_json, "", &request).unwrap();
        assert_eq!(twice.messages_json, once.messages_json);
        assert_eq!(twice.token_count, once.token_count, "{arguments}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_without_a_panic(value in any_json(), request in request()) {
        let prepared = prepared(&value.to_string(), "the prompt", &request);
        prop_assert_eq!(prepared.is_err() && value.is_array() && request.alternation != Alternation::Reject, false);
    }

    #[test]
    fn any_text_is_refused_or_read(text in ".{0,60}", request in request()) {
        let _ = prepared(&text, "", &request);
    }

    #[test]
    fn what_comes_out_is_accepted_and_within_the_limits(
        messages in prop::collection::vec(message(), 0..24),
        prompt in select(vec!["", "the prompt"]),
        request in request(),
    ) {
        let history = Value::from(messages).to_string();
        let prepared = match prepared(&history, prompt, &request) {
            Ok(prepared) => prepared,
            Err(refusal) => {
                let rejected = request.alternation == Alternation::Reject;
                prop_assert!(rejected && refusal.to_string().contains("take turns"), "{}", refusal);
                return Ok(());
            }
        };
        let found = faults(&prepared, request.format);
        prop_assert!(found.is_empty(), "{:?} in {}", found, prepared.messages_json);
        let Limits { messages, bytes, tokens } = request.limits;
        prop_assert!(prepared.messages_json.len() + prepared.system.len() <= bytes);
        prop_assert!(tokens.is_none_or(|tokens| prepared.token_count <= tokens));
        prop_assert!(prepared.message_count <= messages + usize::from(!prompt.is_empty()));
        prop_assert!(prepared.messages_json.contains(prompt));
        let count = serde_json::from_str::<Vec<Value>>(&prepared.messages_json).unwrap().len();
        prop_assert_eq!(prepared.message_count, count);
    }

    /// If prepared again, messages are unchanged.
    #[test]
    fn preparing_twice_changes_nothing(
        messages in prop::collection::vec(message(), 0..24),
        prompt in select(vec!["", "the prompt"]),
        request in request(),
    ) {
        let history = Value::from(messages).to_string();
        let Ok(once) = prepared(&history, prompt, &request) else { return Ok(()) };
        // The prompt is a message of the history now.
        let limits = Limits { messages: request.limits.messages + 1, ..request.limits };
        let twice = prepared(&once.messages_json, "", &Request { limits, ..request }).unwrap();
        prop_assert_eq!(&twice.messages_json, &once.messages_json);
        prop_assert_eq!(twice.dropped, vec![]);
    }
}
