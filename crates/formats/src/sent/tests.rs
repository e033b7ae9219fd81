//! Whatever a provider sends comes back to it, or a warning names it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    UnknownRoles, message,
    openai_responses::{PROVIDER, items_of},
    place::{Notes, Place},
    render,
};
use utterd_domain::{
    Draft, More,
    context::{Archived, ContentParts, Context, Request, build_with},
    testing::{Talk, o200k},
};

/// A user's message, an answer and the results of its calls, for each of OpenAI's chat.
fn chats() -> Vec<Vec<Value>> {
    let asks = json!({"role": "user", "content": "Is it raining?"});
    let call = json!({"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"Oslo\"}"},
        "extra_content": {"google": {"thought_signature": "c2ln"}}});
    let custom = json!({"id": "b", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}});
    let parts = json!([{"type": "text", "text": "rain"}, {"type": "text", "text": "and wind"}]);
    vec![
        vec![asks.clone(), json!({"role": "assistant", "content": null, "refusal": "I will not."})],
        vec![
            asks.clone(),
            json!({"role": "assistant", "content": null, "audio": {"id": "au", "transcript": "No."}}),
        ],
        vec![
            asks,
            json!({"role": "assistant", "content": "", "reasoning_content": "I must look.", "tool_calls": [call, custom],
                "reasoning_details": [{"type": "reasoning.encrypted", "data": "ENC"}]}),
            json!({"role": "tool", "tool_call_id": "a", "name": "look", "content": parts}),
            json!({"role": "tool", "tool_call_id": "b", "content": "done"}),
        ],
        vec![
            json!({"role": "user", "name": "ada", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
                {"type": "file", "file": {"file_id": "f", "filename": "a.pdf"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "A pump"}, {"type": "refusal", "refusal": "No."}]}),
        ],
    ]
}

/// The same of Anthropic's messages.
fn anthropics() -> Vec<Vec<Value>> {
    let asks = json!({"role": "user", "content": [{"type": "text", "text": "Is it raining?"}]});
    let thinks = json!({"type": "thinking", "thinking": "I must look.", "signature": "EqRk"});
    let source = json!({"type": "text", "media_type": "text/plain", "data": "a report"});
    let picture =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let found = json!({"type": "search_result", "source": "https://x", "title": "t", "content": [{"type": "text", "text": "s"}]});
    vec![
        vec![
            asks.clone(),
            json!({"role": "assistant", "content": [thinks, {"type": "redacted_thinking", "data": "RW13"},
                {"type": "text", "text": "Let me look.", "citations": null},
                {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "Oslo"}, "caller": {"type": "direct"}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": true,
                "content": [picture, {"type": "document", "source": source, "title": "T"}, found]}]}),
        ],
        vec![
            asks,
            json!({"role": "assistant", "content": [{"type": "text", "text": "I search."},
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "rain"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
                    {"type": "web_search_result", "url": "https://x", "title": "Rain", "encrypted_content": "Eo"}]},
                {"type": "text", "text": "Yes.", "citations": [{"type": "web_search_result_location", "cited_text": "c"}]}]}),
        ],
        vec![
            json!({"role": "user", "content": [picture, {"type": "text", "text": "And this?", "cache_control": {"type": "ephemeral"}},
                {"type": "document", "source": source, "citations": {"enabled": true}}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "A report."}]}),
        ],
    ]
}

/// Items, each of its own.
fn items() -> Vec<Value> {
    vec![
        json!({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gA"}),
        json!({"type": "mcp_call", "id": "m", "arguments": "{}", "name": "roll", "server_label": "s", "output": "plum"}),
        json!({"type": "code_interpreter_call", "id": "c", "code": "1", "outputs": [{"type": "logs", "logs": "plum"}]}),
        json!({"type": "shell_call_output", "call_id": "sc", "output": [{"stdout": "plum", "outcome": {"type": "exit"}}]}),
        json!({"type": "function_call", "call_id": "fc", "name": "f", "arguments": "{}", "parsed_arguments": {"a": 1}}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi", "parsed": 1}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_file", "filename": "a.pdf"}]}),
        json!({"type": "item_reference", "id": "msg"}),
    ]
}

/// Adds something that nobody knows yet to one of the objects, or to one of the lists of blocks, in `value`.
fn add_unknown(value: &mut Value, place: usize, is_block: bool) {
    let mut places = Vec::new();
    gather(value, String::new(), is_block, &mut places);
    let Some(place) = places.get(place % places.len().max(1)) else { return };
    match value.pointer_mut(place) {
        Some(Value::Object(fields)) => {
            drop(fields.insert("new_field".into(), json!({"n": [1, "some words"]})))
        }
        Some(Value::Array(blocks)) => {
            blocks.insert(0, json!({"type": "new_block", "x": {"words": "some more"}}))
        }
        _ => {}
    }
}

fn gather(value: &Value, at: String, is_block: bool, places: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(values) => {
            values.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => return,
    };
    if if is_block { at.ends_with("/content") && value.is_array() } else { value.is_object() } {
        places.push(at.clone());
    }
    inner.into_iter().for_each(|(name, value)| gather(value, format!("{at}/{name}"), is_block, places));
}

fn context(messages: &[Value], came: Format, format: context::Format) -> Context {
    let json = Value::from(messages.to_vec()).to_string();
    let read = message::read(&json, Some(came), UnknownRoles::Refuse).unwrap();
    let mut talk = Talk::session();
    for Draft { role, content, more, .. } in read.drafts.into_iter().map(|sourced| sourced.draft) {
        talk.add(role, &content, more.map(|more| *more).unwrap_or_default());
    }
    let mut parts = ContentParts::default();
    for utterance in talk.0.window.iter() {
        let Content { original, left_out, .. } = super::content(utterance, format);
        original.into_iter().for_each(|original| parts.insert(utterance.sequence, original, 0));
        parts.leave_out(utterance.sequence, left_out);
    }
    let archived = Archived { content_parts: Some(&parts), ..Archived::default() };
    build_with(&talk.0, archived, &Request { format, ..Request::default() }, o200k()).unwrap()
}

fn written(context: &Context) -> (Vec<Value>, String) {
    let messages = serde_json::from_str(&render(context, o200k()).messages_json).unwrap();
    (messages, context.warnings.iter().map(ToString::to_string).collect())
}

/// The names of what `came` has and `sent` lacks.
fn missing(came: &Value, sent: &Value, name: &str, lacks: &mut Vec<String>) {
    match (came, sent) {
        (Value::Object(came), Value::Object(sent)) => {
            for (field, value) in came {
                match sent.get(field) {
                    Some(sent) => missing(value, sent, field, lacks),
                    None => lacks.push(field.clone()),
                }
            }
        }
        (Value::Array(came), Value::Array(sent)) => {
            // results come first, whatever their place was
            let mut rest: Vec<&Value> = sent.iter().collect();
            for value in came {
                match rest.iter().position(|sent| texts::kind(sent) == texts::kind(value)) {
                    Some(at) => missing(value, rest.remove(at), texts::kind(value), lacks),
                    None => lacks.push(texts::kind(value).to_owned()),
                }
            }
            assert!(rest.is_empty(), "{rest:?}");
        }
        (came, sent) if came != sent => lacks.push(name.to_owned()),
        _ => {}
    }
}

fn comes_back(mut said: Vec<Value>, unknown: &[(usize, usize, bool)], came: Format, format: context::Format) {
    for (message, place, is_block) in unknown {
        let message = message % said.len();
        add_unknown(&mut said[message], *place, *is_block);
    }
    let (sent, warnings) = written(&context(&said, came, format));
    assert_eq!(sent.len(), said.len(), "{sent:?}");
    for (said, sent) in said.iter().zip(&sent) {
        let mut lacks = Vec::new();
        missing(said, sent, "", &mut lacks);
        assert!(
            lacks.iter().all(|name| !name.is_empty() && warnings.contains(name)),
            "{lacks:?} of {said}: {sent}, {warnings}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn a_message_comes_back_in_its_format(
        which in 0..7usize,
        unknown in prop::collection::vec((0..9usize, 0..99usize, any::<bool>()), 0..6),
    ) {
        let chats = chats();
        match chats.get(which) {
            Some(said) => comes_back(said.clone(), &unknown, Format::OpenAiChat, context::Format::OpenAiChat),
            None => {
                let said = anthropics().swap_remove(which - chats.len());
                comes_back(said, &unknown, Format::Anthropic, context::Format::AnthropicMessages);
            }
        }
    }

    #[test]
    fn an_item_comes_back(which in 0..8usize, unknown in prop::collection::vec((0..99usize, any::<bool>()), 0..4)) {
        let mut item = items().swap_remove(which);
        unknown.iter().for_each(|(place, is_block)| add_unknown(&mut item, *place, *is_block));
        let mut notes = Notes::default();
        let said = items_of(vec![item.clone()], true, &Place::root("items"), &mut notes).unwrap();
        let parts = Parts::from(&said[0].draft);
        let (rendered, fits) = PROVIDER.write(&parts, parts.kept(Format::OpenAiResponses).as_ref());
        prop_assert!(fits);
        let (mut lacks, mut left_out) = (Vec::new(), LeftOut::new());
        let sent = (PROVIDER.sent)(&parts, vec![rendered[0].clone()], &mut left_out);
        missing(&item, &sent[0], "", &mut lacks);
        prop_assert!(lacks.iter().all(|name| left_out.iter().any(|left| left.ends_with(name))), "{:?} {:?}", lacks, left_out);
    }
}

/// The names in the warning of a context in another format.
fn left_out(messages: &[Value], came: Format, format: context::Format) -> (Vec<Value>, String) {
    written(&context(messages, came, format))
}

#[test]
fn another_provider_gets_words_and_never_thoughts() {
    let both = [
        (Format::OpenAiChat, context::Format::AnthropicMessages),
        (Format::Anthropic, context::Format::OpenAiChat),
    ];
    for (came, format) in both {
        let all = if came == Format::Anthropic { anthropics() } else { chats() };
        for said in all {
            let (sent, warnings) = left_out(&said, came, format);
            let (told, sent) = (json!(said).to_string(), json!(sent).to_string());
            assert!(!sent.contains("I must look."), "{sent}");
            for (thought, name) in [
                ("reasoning_content", "reasoning_content"),
                ("\"signature\"", "thinking"),
                ("thought_sig", "extra_content"),
            ] {
                assert_eq!(told.contains(thought), warnings.contains(name), "{warnings}");
            }
            for words in ["I will not.", "a report", "https://x", "a.pdf", "and wind"] {
                assert_eq!(told.contains(words), sent.contains(words), "{words}: {sent}");
            }
        }
    }
}

#[test]
fn what_a_stream_has_cut_is_mended_and_named() {
    let call = |arguments: &str| json!({"id": "a", "type": "function", "function": {"name": "look", "arguments": arguments}});
    let said = [
        json!({"role": "user", "content": "Look."}),
        json!({"role": "assistant", "content": null, "tool_calls": [call("{\"path\": \"/tm")]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "no"}),
    ];
    let (sent, warnings) = left_out(&said, Format::OpenAiChat, context::Format::OpenAiChat);
    assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert!(warnings.contains("arguments"), "{warnings}");
}

/// A turn that was paused goes on; where the user has gone on instead, nothing is open.
#[test]
fn a_paused_turn_stays_open_until_the_user_goes_on() {
    let used =
        json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "rain"}});
    let mut said = vec![
        json!({"role": "user", "content": [{"type": "text", "text": "Is it raining?"}]}),
        json!({"role": "assistant", "content": [used]}),
    ];
    let sent = |said: &[Value]| left_out(said, Format::Anthropic, context::Format::AnthropicMessages).0;
    assert_eq!(sent(&said), said);
    said.push(json!({"role": "user", "content": [{"type": "text", "text": "Well?"}]}));
    let text = json!({"type": "text", "text": "[server_tool_use] web_search\nrain"});
    assert_eq!(sent(&said)[1]["content"], json!([text]));
}

#[test]
fn thoughts_count() {
    let said = |more: Value| {
        let mut answer = json!({"role": "assistant", "content": "Yes."});
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let read =
            message::read(&json!([answer]).to_string(), Some(Format::OpenAiChat), UnknownRoles::Refuse);
        let draft = read.unwrap().drafts.remove(0).draft;
        let mut talk = Talk::session();
        talk.add(draft.role, &draft.content, draft.more.map(|more: Box<More>| *more).unwrap_or_default());
        let said = talk.0.window.iter().next().unwrap().clone();
        super::content(&said, context::Format::OpenAiChat).original.map(|original| original.words)
    };
    assert_eq!(said(json!({"reasoning_content": "so many words"})).as_deref(), Some("so many words"));
    assert_eq!(said(json!({"refusal": null, "annotations": []})).as_deref(), Some(""));
}
