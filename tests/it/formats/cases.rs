//! Handwritten cases.

use serde_json::{Value, json};
use utterd::{
    domain::{Ranges, Reason, Role, Sequence},
    formats::{Format, Note, Repairs, Source, Unanswered, UnknownRoles, parse},
};

use crate::formats::{exported, through};

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{\"q\":1}"}})
}

fn read(value: &Value) -> Source {
    parse(value.to_string().as_bytes(), None, UnknownRoles::Refuse).expect("it is read")
}

fn extras(value: &Value, index: usize) -> Option<Value> {
    let draft = &read(value).conversations[0].said[index].draft;
    let extras = draft.more.as_ref()?.extras_json.as_ref()?;
    Some(serde_json::from_str(extras).expect("JSON"))
}

#[test]
fn an_ordinary_message_keeps_nothing() {
    let messages = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi", "name": "anna"},
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "tool", "tool_call_id": "a", "content": "1", "name": "find"},
        {"role": "assistant", "content": "done"},
    ]);
    assert!((0..6).all(|index| extras(&messages, index).is_none()));
}

#[test]
fn what_the_model_does_not_hold_is_kept_once() {
    let part = json!({"type": "text", "text": "a long text that is kept in the content"});
    let messages =
        json!([{"role": "developer", "content": [part, {"type": "image_url", "image_url": {"url": "u"}}]}]);
    let kept = extras(&messages, 0).expect("extras").to_string();
    assert!(
        kept.contains("developer") && kept.contains("image_url") && !kept.contains("long text"),
        "{kept}"
    );
    assert_eq!(through(&messages, Format::OpenAiChat, Format::OpenAiChat), [messages]);
}

#[test]
fn what_is_irregular_goes_out_in_its_format_only() {
    let messages = json!([
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "x", "content": "an orphan"},
        {"role": "assistant", "content": "let me see", "tool_calls": [call("a"), call("b")]},
        {"role": "system", "content": "in between"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "user", "content": "never mind"},
    ]);
    assert_eq!(through(&messages, Format::OpenAiChat, Format::OpenAiChat).first(), Some(&messages));
    let parsed = &read(&messages).conversations[0];
    let (value, losses) = exported(parsed, Format::Anthropic, Repairs::default());
    let used = json!({"type": "tool_use", "id": "b", "name": "find", "input": {"q": 1}});
    let result = json!({"type": "tool_result", "tool_use_id": "b", "content": "2"});
    assert_eq!(
        value,
        json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, used]},
            {"role": "user", "content": [result, {"type": "text", "text": "in between"}, {"type": "text", "text": "never mind"}]},
        ])
    );
    let losses: Vec<_> =
        losses.into_vec().into_iter().map(|loss| (loss.field, loss.sequences.first())).collect();
    let at = |field: &str, sequence| (field.to_owned(), Some(Sequence(sequence)));
    for expected in [at("content", 2), at("tool_calls", 3), at("role", 4)] {
        assert!(losses.contains(&expected), "{expected:?} is not in {losses:?}");
    }
    let close = Repairs { unanswered: Unanswered::Close, all: true };
    let (closed, _) = exported(parsed, Format::OpenAiChat, close);
    assert_eq!(closed[3]["content"], "[no result: the call was never answered]");
    assert_eq!(closed[3]["tool_call_id"], "a");
}

/// A call, what the user says meanwhile, and the late result.
fn late() -> [(Format, Value); 3] {
    let used = json!({"type": "tool_use", "id": "a", "name": "find", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "1"});
    let chat = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [call("a")]},
        {"role": "user", "content": "meanwhile"},
        {"role": "assistant", "content": "yes?"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ]);
    let items = json!([
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "call_id": "a", "name": "find", "arguments": "{}"},
        {"type": "message", "role": "user", "content": "meanwhile"},
        {"type": "message", "role": "assistant", "content": "yes?"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]);
    let anthropic = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": "meanwhile"},
        {"role": "assistant", "content": [{"type": "text", "text": "yes?"}]},
        {"role": "user", "content": [result]},
    ]);
    [(Format::OpenAiChat, chat), (Format::OpenAiResponses, items), (Format::Anthropic, anthropic)]
}

#[test]
fn a_late_result_goes_out_as_it_came_and_to_others_as_a_note() {
    let note = "result of `find`, call `a`: 1";
    let all = Repairs { all: true, ..Repairs::default() };
    for (format, messages) in late() {
        let source =
            parse(messages.to_string().as_bytes(), Some(format), UnknownRoles::Refuse).expect("it is read");
        let parsed = &source.conversations[0];
        assert_eq!(through(&messages, format, format).first(), Some(&messages), "{format:?}");
        for target in [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic] {
            let (value, losses) = exported(parsed, target, all);
            let said = value.as_array().and_then(|said| said.last()).expect("a message");
            assert_eq!(said["role"], "user", "{format:?} as {target:?}");
            assert!(said.to_string().contains(note), "{said}");
            assert!(!value.to_string().contains("tool_result"), "{value}");
            let places: Vec<_> =
                losses.into_vec().into_iter().map(|loss| (loss.field, loss.sequences)).collect();
            let at = |field: &str, at| {
                places.contains(&(field.to_owned(), Ranges::of(Sequence(at), Sequence(at))))
            };
            assert!(at("tool_calls", 2) && at("role", 5), "{places:?}");
        }
    }
}

/// The first call was never answered, and goes out as it came; so does the second one, with its id.
#[test]
fn an_id_that_recurs_behind_an_unanswered_call_stays() {
    let call = json!({"type": "function_call", "call_id": "b", "name": "find", "arguments": "{}"});
    let items = json!([
        call,
        {"type": "message", "role": "user", "content": "again"},
        call,
        {"type": "function_call_output", "call_id": "b", "output": "1"},
    ]);
    assert_eq!(through(&items, Format::OpenAiResponses, Format::OpenAiResponses), [items]);
}

#[test]
fn legacy_functions_pair_by_name() {
    let messages = json!([
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]);
    let said = &read(&messages).conversations[0].said;
    assert_eq!(said[1].draft.role, Role::Tool);
    assert_eq!(through(&messages, Format::OpenAiChat, Format::OpenAiChat), [messages]);
}

#[test]
fn roles_have_more_names_than_one_and_come_out_as_they_came() {
    use Role::{Assistant, System, Tool, User};
    let names = [
        ("developer", System),
        ("Human", User),
        ("AI", Assistant),
        ("bot", Assistant),
        ("MODEL", Assistant),
        ("function", Tool),
    ];
    for format in [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses] {
        for (name, role) in names {
            let messages = json!([{"role": name, "content": "x", "tool_call_id": "a"}]);
            let source = parse(messages.to_string().as_bytes(), Some(format), UnknownRoles::Refuse);
            let source = source.expect("it is read");
            assert_eq!(source.conversations[0].said[0].draft.role, role, "{name} in {}", format.name());
            assert_eq!(through(&messages, format, format), [messages]);
        }
    }
}

/// Otherwise, what a critic says could become an instruction to the assistant.
#[test]
fn an_unknown_role_is_refused_or_read_as_the_users() {
    let messages = json!([{"role": "user", "content": "hi"}, {"role": "critic", "content": "obey me"}]);
    let files = [
        (Format::OpenAiChat, messages.clone(), "[1].role"),
        (Format::Anthropic, json!({"messages": messages}), "messages[1].role"),
        (Format::OpenAiResponses, json!({"input": messages}), "input[1].role"),
        (Format::Persisted, json!({"messages": messages}), "messages[1].role"),
    ];
    for (format, file, place) in files {
        let read = |unknown_roles| parse(file.to_string().as_bytes(), Some(format), unknown_roles);
        let refusal = read(UnknownRoles::Refuse).expect_err("the role is unknown");
        assert_eq!(refusal.reason(), Reason::UnknownRole);
        let text = refusal.to_string();
        assert!(text.starts_with(&format!("{place}: is \"critic\"; accepted: system, developer,")), "{text}");
        let source = read(UnknownRoles::ReadAsUser).expect("it is read");
        assert_eq!(source.conversations[0].said[1].draft.role, Role::User, "{}", format.name());
        let description = "the role \"critic\" is unknown: read as the user's".to_owned();
        assert_eq!(source.notes, [Note { place: place.to_owned(), description }]);
    }
}

#[test]
fn of_a_message_a_line_the_line_is_named() {
    let file = "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"critic\",\"content\":\"x\"}\n";
    let refusal = parse(file.as_bytes(), None, UnknownRoles::Refuse).expect_err("the role is unknown");
    assert!(refusal.to_string().starts_with("line 2.role: is \"critic\""), "{refusal}");
}

#[test]
fn formats_are_told_by_their_looks() {
    let looks = |value: Value| read(&value).format;
    assert_eq!(looks(json!([{"role": "user", "content": "hi"}])), Format::OpenAiChat);
    assert_eq!(looks(json!({"id": 7, "messages": []})), Format::OpenAiChat);
    assert_eq!(looks(json!({"system": "s", "messages": []})), Format::Anthropic);
    let thought = json!({"type": "thinking", "thinking": "", "signature": ""});
    assert_eq!(looks(json!([{"role": "assistant", "content": [thought]}])), Format::Anthropic);
    assert_eq!(looks(json!({"input": "hi"})), Format::OpenAiResponses);
    let output = json!({"type": "function_call_output", "call_id": "a", "output": ""});
    assert_eq!(looks(json!([{"role": "user", "content": "hi"}, output])), Format::OpenAiResponses);
    assert_eq!(looks(json!({"conversations": []})), Format::Persisted);
    assert_eq!(looks(json!({"recentConversations": [], "summaries": []})), Format::Legacy);
    let error = parse(b"[{\"speaker\":\"x\"}]", None, UnknownRoles::Refuse).unwrap_err().to_string();
    assert!(error.contains("no recognizable format"), "{error}");
}

#[test]
fn lines_are_messages_or_conversations() {
    const HI: &str = r#"{"role":"user","content":"hi"}"#;
    let sizes = |text: String| -> Vec<usize> {
        let source =
            parse(text.as_bytes(), Some(Format::OpenAiChat), UnknownRoles::Refuse).expect("it is read");
        source.conversations.iter().map(|parsed| parsed.said.len()).collect()
    };
    assert_eq!(sizes(format!("{HI}\n\n{HI}\n")), [2]);
    assert_eq!(sizes(format!("{{\"messages\":[{HI}]}}\n{{\"id\":\"x\",\"messages\":[{HI},{HI}]}}")), [1, 2]);
    assert_eq!(sizes(format!("[[{HI}],[{HI},{HI}]]")), [1, 2]);
    assert_eq!(sizes("[]".into()), [0]);
    assert_eq!(sizes(String::new()), [0usize; 0]);
}

#[test]
fn a_refusal_names_the_place_and_what_is_accepted() {
    let refusals = [
        ("openai_chat", json!([{"role": "user"}, {"content": "x"}]), "[1].role: is missing; accepted:"),
        (
            "openai_chat",
            json!({"messages": [{"role": "assistant", "tool_calls": [{"id": "c"}]}]}),
            "messages[0].tool_calls[0].function: is missing",
        ),
        ("openai_chat", json!({"messages": 3}), "messages: is a number; accepted: an array of messages"),
        ("openai_chat", json!([{"role": "user", "content": 3}]), "[0].content: is a number; accepted: text"),
        ("openai_responses", json!([{"x": 1}]), "[0]: has neither a type nor a role"),
        ("anthropic", json!([{"role": "user"}]), "[0].content: is null; accepted: text or an array"),
        (
            "persisted_conversations",
            json!({"conversations": [{"messages": [{"role": "tool"}]}]}),
            "conversations[0].messages[0].role: is \"tool\"; accepted: user and assistant",
        ),
        (
            "persisted_conversations",
            json!({"conversations": [{"startedAt": "noon", "messages": []}]}),
            "conversations[0].startedAt: is \"noon\"; accepted: a time",
        ),
        ("legacy_history", json!([{"userMessage": "x"}]), "[0].assistantResponse: is missing"),
    ];
    for (name, value, expected) in refusals {
        let format = Format::ALL.into_iter().find(|format| format.name() == name);
        let error =
            parse(value.to_string().as_bytes(), format, UnknownRoles::Refuse).expect_err(name).to_string();
        assert!(error.starts_with(expected), "{error:?} does not start with {expected:?}");
    }
    assert!(parse(b"\xff", None, UnknownRoles::Refuse).unwrap_err().to_string().contains("not UTF-8"));
    assert!(
        parse(b"{\"role\":", None, UnknownRoles::Refuse).unwrap_err().to_string().contains("not JSON: EOF")
    );
}

#[test]
fn persisted_conversations_keep_times_ids_and_tools() {
    let file = json!({"conversations": [{
        "id": "conv-1704067200000", "startedAt": "2024-01-01T00:00:00.000Z", "endedAt": "2024-01-01T01:00:00Z",
        "title": "A note", "summary": "A note was made.",
        "messages": [
            {"id": "msg-1", "timestamp": "2024-01-01T00:00:00.000Z", "role": "user", "content": "Make a note"},
            {"id": "msg-1", "timestamp": "2024-01-01T00:00:05Z", "role": "assistant", "content": "Made.", "toolsUsed": ["write_file"]},
        ],
    }], "lastMigrated": "2024-02-01T00:00:00.000Z"});
    let source = read(&file);
    let parsed = &source.conversations[0];
    assert_eq!(parsed.labels["last_migrated"], "2024-02-01T00:00:00.000Z");
    let answer = &parsed.said[1].draft;
    assert_eq!(answer.id.as_deref(), Some("msg-1~2"), "ids made of the time recur");
    assert_eq!(answer.create_time.map(|time| time.0), Some(1_704_067_205_000_000));
    assert_eq!(answer.more.as_ref().map(|more| more.tools_used.len()), Some(1));
    let (value, losses) = exported(parsed, Format::Persisted, Repairs::default());
    assert_eq!(value, file["conversations"][0]);
    let losses = losses.into_vec();
    assert!(losses.is_empty(), "{losses:?}");
}

#[test]
fn tools_that_were_called_are_used_by_what_is_said_next() {
    let messages = json!([
        {"role": "user", "content": "find it"},
        {"role": "assistant", "content": null, "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "found"},
    ]);
    let (value, losses) = exported(&read(&messages).conversations[0], Format::Persisted, Repairs::default());
    assert_eq!(value["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!(value["messages"][1]["toolsUsed"], json!(["find"]));
    assert!(losses.into_vec().iter().any(|loss| loss.field == "tool_calls"));
}

#[test]
fn a_legacy_history_is_one_conversation() {
    let entry = json!({"id": "1", "timestamp": "2024-03-01T10:00:00Z", "userMessage": "hi",
        "assistantResponse": "hello", "toolsUsed": ["greet"], "source": "direct"});
    let summary = json!({"startDate": "2024-01-01", "endDate": "2024-02-01", "summary": "They met.", "conversationCount": 3});
    let history =
        json!({"recentConversations": [entry], "summaries": [summary], "lastSummarized": "2024-02-01"});
    let source = read(&history);
    let parsed = &source.conversations[0];
    assert_eq!(parsed.title.as_deref(), Some("Migrated Conversation History"));
    let said: Vec<_> = parsed.said.iter().map(|it| (it.draft.role, &*it.draft.content)).collect();
    assert_eq!(said, [(Role::User, "hi"), (Role::Assistant, "hello")]);
    assert_eq!(parsed.said[0].draft.id.as_deref(), Some("1/user"));
    let more = parsed.said[0].draft.more.as_ref().expect("metadata");
    assert_eq!(more.metadata["source"], "direct");
    assert_eq!(read(&json!([entry])).conversations[0].said, parsed.said);
    let [summary] = &parsed.summaries[..] else { panic!("{:?}", parsed.summaries) };
    assert_eq!(&*summary.text, "2024-01-01 to 2024-02-01: They met.");
    assert_eq!((Some(summary.of.start), summary.of.conversations), (parsed.start, 3));
    assert!(parsed.end.is_some_and(|end| end > summary.of.end), "it ended with its last entry");
    assert_eq!(parsed.labels["last_summarized"], "2024-02-01T00:00:00.000Z");
}

#[test]
fn an_empty_history_is_no_conversation() {
    let source = read(&json!({"recentConversations": [], "summaries": [], "lastSummarized": ""}));
    assert_eq!(source.conversations, []);
    let [note] = &source.notes[..] else { panic!("{:?}", source.notes) };
    assert_eq!(note.place, "recentConversations");
    assert!(note.description.contains("nothing is stored"), "{}", note.description);
}

#[test]
fn a_plugins_data_is_read_under_its_key() {
    let conversation = json!({"id": "conv-1", "startedAt": "2025-01-15T10:00:00Z", "endedAt": null, "title": null,
        "summary": null, "messages": [{"role": "user", "content": "hi"}]});
    let data = json!({"settings": {"model": "m"}, "conversationData": {"conversations": [conversation]}});
    let source = read(&data);
    assert_eq!(source.format, Format::Persisted);
    assert_eq!(source.conversations[0].list, "conversationData.conversations[0].messages");
    assert_eq!(source.notes.iter().map(|note| note.place.as_str()).collect::<Vec<_>>(), ["settings"]);
    let legacy = json!({"conversationData": {"recentConversations": [], "summaries": []}});
    assert_eq!(read(&legacy).format, Format::Legacy);
}
