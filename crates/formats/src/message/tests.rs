use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{Format, UnknownRoles, document, extras::Parts, openai_chat};
use utterd_domain::{Draft, LineageId, More, Refusal, Role, Sequence, Timestamp, Utterance, UtteranceId};

/// The utterances that drafts are stored as.
fn stored(drafts: impl IntoIterator<Item = Draft>) -> Vec<Arc<Utterance>> {
    let store = |(sequence, draft): (u64, Draft)| {
        Arc::new(Utterance {
            sequence: Sequence(sequence),
            unit: Sequence(sequence),
            create_time: Timestamp(0),
            turn: 1,
            tokens: 1,
            id: UtteranceId::Assigned(LineageId([1; 16])),
            role: draft.role,
            forgotten: false,
            pinned: false,
            instruction: false,
            aside: false,
            content: draft.content,
            more: draft.more,
        })
    };
    (1..).zip(drafts).map(store).collect()
}

fn taken_in(json: &str, format: Option<Format>) -> Vec<Arc<Utterance>> {
    stored(read(json, format, UnknownRoles::Refuse).unwrap().drafts.into_iter().map(|sourced| sourced.draft))
}

/// The messages written from stored utterances.
fn given_out(stored: &[Arc<Utterance>], format: Option<Format>) -> Vec<String> {
    let each = stored.chunk_by(|one, next| next.continues_after(one));
    each.flat_map(|message| write(message.iter().map(|utterance| &**utterance), format).json).collect()
}

fn comes_back(format: Format, messages: &[&str]) {
    let stored = taken_in(&format!("[{}]", messages.join(", \n")), Some(format));
    assert_eq!(given_out(&stored, None), messages);
    for other in Format::ALL.into_iter().filter(|format| format.has_messages()) {
        let written = given_out(&stored, Some(other));
        if other == format {
            assert_eq!(written, messages);
        }
        for message in written {
            let value: serde_json::Value = serde_json::from_str(&message).unwrap_or_default();
            assert!(value.is_object() || message.contains(r"\ud83d"), "{message}");
        }
    }
}

const CHAT: [&str; 14] = [
    r#"{"role":"system","content":"Be brief."}"#,
    r#"{"role": "user", "content": "Two spaces, and a \u00fcmlaut as Python's json writes it."}"#,
    r#"{"content":"The role comes last, for once.","role":"user"}"#,
    r#"{"role":"user","content":[{"type":"text","text":"What is in this picture?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"}}]}"#,
    r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{\"query\": \"a long query for the index\"}"}},{"id":"b","type":"function","function":{"name":"find","arguments":"{}"}}]}"#,
    r#"{"role":"tool","tool_call_id":"a","content":"found"}"#,
    r#"{"role":"tool","tool_call_id":"b","content":""}"#,
    r#"{"role":"assistant","content":null,"refusal":"I will not."}"#,
    r#"{"role":"user","content":"half of a pair: \ud83d, and so on for a while"}"#,
    r#"{"role":"user","content":"hi","n":1e400,"n":-0.0}"#,
    r#"{"role":"assistant","content":""}"#,
    r#"{"role":"developer","content":"an instruction amid the talk"}"#,
    "{\n  \"role\": \"user\",\n  \"content\": \"pretty \\/ printed \\u0041\"\n}",
    r#"{"role":"user","content":"a", "": {"$": "content", "x": [null, true, 1.50]}}"#,
];

const ITEMS: [&str; 9] = [
    r#"{"role":"user","content":"plain"}"#,
    r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"And this?"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}"#,
    r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAAABo"}"#,
    r#"{"id":"rs_2","type":"reasoning","summary":[{"type":"summary_text","text":"thinking"}]}"#,
    r#"{"type":"function_call","call_id":"a","name":"find","arguments":"{}","id":"fc_1","status":"completed"}"#,
    r#"{"type": "function_call", "call_id": "b", "name": "find", "arguments": "{}"}"#,
    r#"{"type":"function_call_output","call_id":"a","output":"found"}"#,
    r#"{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"found, too"}]}"#,
    r#"{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Done.","annotations":[]}]}"#,
];

const BLOCKS: [&str; 6] = [
    r#"{"role":"user","content":"plain"}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Let me see what there is."},{"type":"tool_use","id":"a","name":"find","input":{"text":"a text of more than so many letters"}},{"type":"tool_use","id":"b","name":"find","input":{}}]}"#,
    r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "found"}, {"type": "text", "text": "and now?"}, {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "found, too"}], "is_error": false}]}"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"Well."}],"id":"msg_1","usage":{"n":1}}"#,
    r#"{"role":"assistant","content":"And more, right behind it."}"#,
    r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUg"}}]}"#,
];

#[test]
fn every_message_comes_back_byte_for_byte() {
    comes_back(Format::OpenAiChat, &CHAT);
    comes_back(Format::OpenAiResponses, &ITEMS);
    comes_back(Format::Anthropic, &BLOCKS);
}

#[test]
fn an_item_is_an_utterance() {
    let stored = taken_in(&format!("[{}]", ITEMS.join(",")), None);
    assert_eq!(stored.len(), ITEMS.len());
    let calls: Vec<usize> = stored.iter().map(|utterance| utterance.tool_calls().len()).collect();
    assert_eq!(calls, [0, 0, 0, 0, 1, 1, 0, 0, 0]);
    assert_eq!(stored[6].tool_call_id(), Some("a"));
}

#[test]
fn results_are_utterances_that_go_on_with_their_message() {
    let stored = taken_in(&format!("[{}]", BLOCKS[2]), Some(Format::Anthropic));
    let said: Vec<_> = stored.iter().map(|one| (one.role, one.continues())).collect();
    assert_eq!(said, [(Role::Tool, false), (Role::Tool, true), (Role::User, true)]);
}

/// Each part of a message holds its own text, and no other part's.
#[test]
fn what_is_left_of_a_message_tells_nothing_of_what_is_gone() {
    let stored = taken_in(&format!("[{}]", BLOCKS[2]), Some(Format::Anthropic));
    let rest = &stored[1..];
    let told = given_out(rest, None).concat();
    assert!(told.contains("and now?") && told.contains("found, too"), "{told}");
    let kept: String = rest.iter().map(|one| format!("{:?}", one.more)).collect();
    assert!(!kept.contains("\"found\""), "{kept}");
    assert_eq!(
        given_out(&stored[..1], None),
        [r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"found"}]}"#]
    );
}

#[test]
fn a_plain_message_keeps_nothing() {
    let stored = taken_in(r#"[{"role":"user","content":"hi"}]"#, None);
    assert_eq!(stored[0].more, None);
    let stored = taken_in(&format!("[{}]", CHAT[1]), None);
    let kept = stored[0].more.as_ref().and_then(|more| more.extras_json.as_deref()).unwrap_or_default();
    assert!(!kept.contains("Python"), "{kept}");
}

#[test]
fn what_says_something_else_is_written_anew() {
    let stored = taken_in(&format!("[{}]", CHAT[1]), None);
    let changed = Arc::new(Utterance { content: "else".into(), ..(*stored[0]).clone() });
    assert_eq!(given_out(&[changed], None), [r#"{"role":"user","content":"else"}"#]);
}

#[test]
fn what_came_as_utterances_is_a_message_in_any_format() {
    let call = |id: &str| utterd_domain::ToolCall {
        id: id.into(),
        name: "find".into(),
        arguments_json: "{}".into(),
    };
    let more = More { tool_calls: vec![call("a"), call("b")], ..More::default() };
    let draft = Draft::of(Role::Assistant, "Let me see.", more);
    let stored = stored([draft]);
    assert_eq!(given_out(&stored, None).len(), 1);
    assert_eq!(given_out(&stored, Some(Format::Anthropic)).len(), 1);
    let items = given_out(&stored, Some(Format::OpenAiResponses));
    assert_eq!(items.len(), 3, "{items:?}");
}

#[test]
fn a_context_is_read_as_it_was_built() {
    let built =
        r#"{"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#;
    let stored = taken_in(built, None);
    assert_eq!(stored.iter().map(|one| one.role).collect::<Vec<_>>(), [Role::System, Role::User]);
    let messages = given_out(&stored, None);
    assert_eq!(messages[0], r#"{"role":"system","content":"Be brief."}"#);
    assert_eq!(messages[1], r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#);
}

#[test]
fn what_is_not_accepted_is_named_with_its_place() {
    let refused = |json: &str, format| match read(json, format, UnknownRoles::Refuse) {
        Err(Refusal::Field(_, violation)) => format!("{}: {}", violation.field, violation.description),
        other => panic!("{other:?}"),
    };
    let chat = Some(Format::OpenAiChat);
    for (json, format, wrong) in [
        ("[", chat, "messages_json: is not JSON: EOF"),
        ("7", chat, "messages_json: is not a JSON array of messages, one message"),
        ("[NaN]", chat, "messages_json: is not JSON: expected value"),
        (
            r#"[{"role":"user","content":"a"},{"role":"who"}]"#,
            chat,
            "messages_json[1].role: is \"who\"; accepted:",
        ),
        (r#"[{"content":"a"}]"#, chat, "messages_json[0].role: is missing"),
        (r#"{"messages":[],"model":"x"}"#, chat, "messages_json: has the field \"model\"; accepted next to"),
        (r#"{"messages":[],"system":"x"}"#, chat, "messages_json.system: is accepted only with the format"),
        (r#"[{"a":1}]"#, None, "messages_json: is in no recognizable format"),
        (
            r#"[{"type":"message","role":"x"}]"#,
            Some(Format::OpenAiResponses),
            "messages_json[0].role: is \"x\"",
        ),
        (
            r#"[{"role":"user","content":[{"type":"tool_result","content":7}]}]"#,
            Some(Format::Anthropic),
            "messages_json[0].content[0].content: is a number",
        ),
    ] {
        let told = refused(json, format);
        assert!(told.starts_with(wrong), "{json}: {told}");
    }
}

/// A list of messages is changed item by item, so each item is an utterance. An import keeps what belongs together.
#[test]
fn an_import_joins_what_a_model_put_out_in_one_go() {
    let json = r#"[
        {"role": "user", "content": "Is it raining in Oslo or in Bergen?"},
        {"type": "reasoning", "id": "r1", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "rain"},
        {"type": "function_call_output", "call_id": "b", "output": "sun"},
        {"role": "assistant", "content": "In Oslo."}
    ]"#;
    let apart = read(json, None, UnknownRoles::Refuse).unwrap().drafts;
    assert!(apart.iter().map(|sourced| sourced.index).eq(0..7));
    let imported = document::parse(json.as_bytes(), None, UnknownRoles::Refuse).unwrap().conversations;
    let indices: Vec<usize> = imported[0].said.iter().map(|sourced| sourced.index).collect();
    assert_eq!(indices, [0, 1, 4, 5, 6]);
    assert_eq!(imported[0].said[1].draft.tool_calls().len(), 2);
}

#[test]
fn halves_of_surrogate_pairs_are_known() {
    let has = |text: &str| {
        let stored = taken_in(&format!("[{{\"role\": \"user\",\"content\":\"{text}\"}}]"), None);
        has_halves(&Parts::from(&*stored[0]))
    };
    assert!(has(r"cut \ud83d off"));
    assert!(!has(r"\ud83d\ude00") && !has(r"\\ud83d") && !has("plain"));
}

proptest! {
    /// A chat message is the same bytes whether it is written at once or by its form.
    #[test]
    fn a_chat_message_is_written_by_its_form(
        texts in prop::array::uniform3(".{0,9}[\"\\\\\n]?.{0,9}"),
        has in any::<[bool; 2]>(),
    ) {
        let [content, name, call] = texts;
        let more = More {
            name: has[0].then(|| name.into()),
            tool_call_id: has[1].then(|| call.into()),
            ..More::default()
        };
        let draft = Draft::of(Role::Tool, content, more);
        let (parts, mut json) = (Parts::from(&draft), String::new());
        openai_chat::write(&parts, &mut json);
        prop_assert_eq!(json, openai_chat::PROVIDER.plain(&parts)[0].to_string());
    }
}
