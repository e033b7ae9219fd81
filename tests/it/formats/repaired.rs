//! With `repair_all`, any input goes out in a form that the format's API accepts.

use proptest::prelude::*;
use serde_json::{Value, json};

use utterd::formats::{Format, Repairs, Unanswered, UnknownRoles, messages, parse};

use crate::{
    contexts::validator::{Fault, Rule, anthropic, openai},
    formats::{
        exported,
        faults::faults,
        random::{anthropic_message, chat_message, item, list},
    },
};

/// What the provider refuses in an export, by the independent validator.
fn refused(value: &Value, format: Format) -> Vec<Fault> {
    let messages = Value::from(messages(value.clone(), format)).to_string();
    let mut found = match format {
        Format::Anthropic => anthropic::faults(&messages),
        _ => openai::faults(&messages),
    };
    if let Some(system) = value.get("system") {
        found.extend(anthropic::system_faults(system));
    }
    if messages == "[]" {
        found.retain(|fault| fault.rule != Rule::Messages);
    }
    found
}

fn repaired(value: &Value, format: Format, target: Format, unanswered: Unanswered) -> Value {
    let source =
        parse(value.to_string().as_bytes(), Some(format), UnknownRoles::ReadAsUser).expect("it is read");
    exported(&source.conversations[0], target, Repairs { unanswered, all: true }).0
}

/// A message with a role, a name, a tool or a field that no API has, or with blank text.
fn odd(message: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let change = prop::sample::select(vec![
        json!({}),
        json!({"stop": "aborted"}),
        json!({"role": "critic"}),
        json!({"name": "Ann <x>"}),
        json!({"content": " \n"}),
        json!({"content": null, "tool_calls": null}),
        json!({"refusal": null, "id": 12}),
        json!({"content": [{"type": "text", "text": " "}, {"type": "text", "text": "so "}]}),
    ]);
    (message, change).prop_map(|(mut message, change)| {
        let has_content = message.get("content").is_some_and(|content| !content.is_null());
        if let (Some(fields), Value::Object(change)) = (message.as_object_mut(), change) {
            let nulls = has_content || !change.get("content").is_some_and(Value::is_null);
            fields.extend(change.into_iter().filter(|(name, _)| nulls || name != "content"));
        }
        message
    })
}

/// The same without what a format refuses to read: null content.
fn readable(message: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    odd(message).prop_map(|mut message| {
        if message["content"].is_null() {
            message["content"] = json!("");
        }
        message
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn what_is_repaired_is_accepted(
        chat in list(odd(chat_message())), anthropic in list(readable(anthropic_message())), items in list(item()),
        close in any::<bool>(),
    ) {
        let unanswered = if close { Unanswered::Close } else { Unanswered::LeaveOut };
        let formats = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];
        for (value, format) in [&chat, &anthropic, &items].into_iter().zip(formats) {
            for target in [Format::OpenAiChat, Format::Anthropic] {
                let out = repaired(value, format, target, unanswered);
                let mut found = refused(&out, target);
                if format == target {
                    // what came in the format keeps the blocks and fields that their provider alone knows, and
                    // OpenAI's empty text beside calls
                    let empty = if target == Format::OpenAiChat { Rule::EmptyText } else { Rule::Shape };
                    let came = [Rule::UnknownField, Rule::Shape, empty];
                    found.retain(|fault| !came.contains(&fault.rule));
                }
                prop_assert!(found.is_empty(), "{format:?} to {target:?}: {found:?}\n{value}\n{out}");
            }
            let out = repaired(value, format, Format::OpenAiResponses, unanswered);
            prop_assert_eq!(faults(&out, Format::OpenAiResponses), Vec::<String>::new(), "{}", out);
        }
    }
}

#[test]
fn what_no_api_knows_is_left_out() {
    let messages = json!([
        {"role": "user", "content": "hi", "seen": true},
        {"role": "assistant", "content": null, "stop": "aborted"},
        {"role": "critic", "content": "so so"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]},
        {"role": "developer", "content": "be brief"},
        {"role": "assistant", "content": "well ", "refusal": null},
    ]);
    let wanted = json!([
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "so so"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]},
        {"role": "developer", "content": "be brief"},
        {"role": "assistant", "content": "well ", "refusal": null},
    ]);
    let chat = Format::OpenAiChat;
    assert_eq!(repaired(&messages, chat, chat, Unanswered::LeaveOut), wanted);
}

/// Anthropic refuses blank text, wherever it came from.
#[test]
fn anthropic_gets_no_white_space_alone() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = json!([
        {"role": "system", "content": " "},
        {"role": "user", "content": "\n"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": " \n", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "\t"},
    ]);
    let source = parse(messages.to_string().as_bytes(), None, UnknownRoles::Refuse).expect("it is read");
    let (value, losses) = exported(&source.conversations[0], Format::Anthropic, Repairs::default());
    let used = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "1"});
    let wanted = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]);
    assert_eq!(value, wanted);
    let lost: Vec<u64> =
        losses.into_vec().iter().flat_map(|loss| loss.sequences.sequences()).map(|it| it.get()).collect();
    assert!([1, 2, 4, 6].iter().all(|sequence| lost.contains(sequence)), "{lost:?}");
}

/// Numbers come back digit by digit, even those that no machine number can hold; an exponent keeps its sign.
#[test]
fn numbers_come_back_as_they_came() {
    let digits = ["12345678901234567890123", "18446744073709551616", "-0", "1.10", "0.1", "1e+400"];
    let digits = digits.map(|number| (number, number)).into_iter();
    for (number, written) in digits.chain([("1E400", "1e+400")]) {
        let chat = format!(r#"[{{"role":"user","content":"hi","seed":{number},"more":[{{"n":{number}}}]}}]"#);
        let used = format!(
            r#"[{{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{"n":{number}}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"1"}}]}}]"#
        );
        for (text, format) in [(chat, Format::OpenAiChat), (used, Format::Anthropic)] {
            let source = parse(text.as_bytes(), Some(format), UnknownRoles::Refuse).expect("it is read");
            let (value, _) = exported(&source.conversations[0], format, Repairs::default());
            assert_eq!(value.to_string(), text.replace(number, written));
        }
    }
}

/// The Responses API takes pictures from users and in results.
#[test]
fn pictures_of_items_stay() {
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"});
    let items = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "See?"}, picture]},
        {"type": "function_call", "call_id": "a", "name": "camera", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [picture]},
        {"type": "message", "role": "user", "content": "And now?"},
    ]);
    let format = Format::OpenAiResponses;
    assert_eq!(repaired(&items, format, format, Unanswered::LeaveOut), items);
}
