//! What ChatGPT, Claude, Claude Code and Codex keep.

use std::fs;

use serde_json::{Value, json};
use utterd::formats::{Format, Parsed, Source, UnknownRoles, condensed, parse, session};

/// One of the examples, in the format that is detected.
fn example(name: &str) -> Source {
    let path = format!("{}/examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
    parse(&fs::read(path).expect("the example"), None, UnknownRoles::Refuse).expect("it is read")
}

/// What was said in a conversation: the ids and texts of its messages, with calls as `tool(id)` and results as `id=`.
fn said(parsed: &Parsed) -> Vec<String> {
    let line = |draft: &utterd::domain::Draft| {
        let more = draft.more.as_deref();
        let answers =
            more.and_then(|more| more.tool_call_id.as_deref()).map(|id| format!("{id}=")).unwrap_or_default();
        let calls = more
            .map(|more| more.tool_calls.iter().map(|call| format!(" {}({})", call.name, call.id)).collect());
        let calls: String = calls.unwrap_or_default();
        format!("{} {answers}{}{calls}", draft.role.as_str(), draft.content)
    };
    parsed.said.iter().map(|sourced| line(&sourced.draft)).collect()
}

fn ids(parsed: &Parsed) -> Vec<&str> {
    parsed.said.iter().map(|sourced| sourced.draft.id.as_deref().unwrap_or("-")).collect()
}

fn times(parsed: &Parsed) -> Vec<i64> {
    let times = parsed.said.iter().filter_map(|sourced| sourced.draft.create_time);
    times.map(|time| time.0 / 1_000_000 - 1_736_935_200).collect()
}

fn names(source: &Source) -> Vec<&str> {
    source.conversations.iter().map(|parsed| parsed.id.as_deref().unwrap_or("-")).collect()
}

#[test]
fn chatgpt_has_calls_and_answers_that_were_made_again() {
    let source = example("chatgpt.json");
    assert_eq!(
        (source.format, names(&source)),
        (Format::ChatGpt, vec!["6787a1c0-trail", "6787a1c0-trail~a0"])
    );
    let [main, again] = source.conversations.as_slice() else { panic!("two") };
    assert_eq!(
        said(main),
        [
            "user [image file-service://file-Ab1]\nHow long is the trail on this map?",
            "assistant  python(c1)",
            "tool c1=9.2",
            "assistant The three legs add up to 9.2 km.",
            "user And uphill?",
            "assistant Some 410 m, most of it on the second leg.",
        ]
    );
    let call = &main.said[1].draft.more.as_ref().expect("a call").tool_calls[0];
    assert_eq!(&*call.arguments_json, r#"{"input":"sum([3.1, 4.2, 1.9])"}"#);
    assert_eq!(
        (ids(main), times(main)),
        (vec!["u1", "c1", "r1", "a1", "u2", "a2"], vec![1, 30, 31, 33, 60, 64])
    );
    assert_eq!(main.title.as_deref(), Some("The length of a trail"));
    assert_eq!(main.start.map(|time| time.0), Some(1_736_935_200_000_000));
    assert_eq!(said(again)[1..], ["assistant About nine kilometres."]);
    assert_eq!(again.labels["branch_of"], "6787a1c0-trail");
    assert_eq!(main.labels.keys().collect::<Vec<_>>(), ["model"]);
}

#[test]
fn claude_has_calls_within_messages_and_attachments() {
    let source = example("claude.json");
    assert_eq!((source.format, names(&source)), (Format::Claude, vec!["4f0c-bread", "4f0c-bread~m4"]));
    let [main, left] = source.conversations.as_slice() else { panic!("two") };
    assert_eq!(
        said(main),
        [
            "user Why does my loaf stay flat?\n[recipe.txt]\n500 g flour, 400 g water",
            "assistant I look up what others say. web_search(m2/1)",
            r#"tool m2/1={"type":"knowledge","title":"Hydration","url":"https://bread.example/hydration"}"#,
            "assistant At 80 % hydration it needs more folds.",
            "user Could I use less water instead?",
            "assistant Yes: 350 g.",
        ]
    );
    assert_eq!(ids(main), ["m1", "m2", "m2/1", "m2/2", "m5", "m6"]);
    assert_eq!(times(main), [0, 20, 20, 20, 480, 489]);
    assert_eq!(said(left)[4..], ["user How many folds?", "assistant Four, half an hour apart."]);
    assert_eq!(left.labels["branch_of"], "4f0c-bread");
}

#[test]
fn claude_code_has_answers_in_several_lines_and_what_was_wound_back() {
    let source = example("claude-code.jsonl");
    let session = "2b1d7c5e-0000-4000-8000-5e5510000001";
    assert_eq!(
        (source.format, names(&source)),
        (Format::ClaudeCode, vec![session, &format!("{session}~a5")])
    );
    let [main, left] = source.conversations.as_slice() else { panic!("two") };
    assert_eq!(
        said(main),
        [
            "user The total of an order is off by a cent.",
            "assistant I read the code and the tests. Read(toolu_1) Read(toolu_2)",
            "tool toolu_1=return sum(prices)",
            "tool toolu_2=assert total([0.1, 0.2]) == 0.3",
            "assistant Prices are floats: I count in cents.",
            "user Go on, with cents.",
            "assistant Done; the tests pass.",
        ]
    );
    assert_eq!(ids(main), ["u1", "a1", "r1", "r2", "a4", "u3", "a6"]);
    assert_eq!(times(main), [1, 5, 8, 9, 12, 40, 55]);
    assert_eq!(main.title.as_deref(), Some("Order totals in cents"));
    assert_eq!((main.labels["cwd"].as_str(), main.labels["git_branch"].as_str()), ("/home/ana/shop", "main"));
    assert_eq!(said(left)[5..], ["user Use Decimal.", "assistant Decimal it is."]);
    assert_eq!(left.labels["branch_of"], session);
}

#[test]
fn codex_has_events_and_turns_that_were_rolled_back() {
    let source = example("codex.jsonl");
    assert_eq!((source.format, names(&source)), (Format::Codex, vec!["0199-codex", "0199-codex~1"]));
    let [main, left] = source.conversations.as_slice() else { panic!("two") };
    let all = said(main);
    assert_eq!(
        all[1..],
        [
            "user List the tests.",
            "assistant  shell(call_1)",
            "tool call_1=test_total.py",
            "assistant There is one: test_total.py.",
            "user Run it.",
            "assistant It passes.",
        ]
    );
    assert!(all[0].starts_with("user <environment_context>"), "{all:?}");
    assert_eq!(times(main)[1..], [1, 2, 4, 5, 21, 25]);
    assert_eq!(said(left)[5..], ["user Delete it.", "assistant Deleted."]);
    assert_eq!(
        (left.labels["branch_of"].as_str(), main.labels["cwd"].as_str()),
        ("0199-codex", "/home/ana/shop")
    );
}

fn read(values: &[Value]) -> Source {
    let lines: Vec<String> = values.iter().map(Value::to_string).collect();
    parse(lines.join("\n").as_bytes(), None, UnknownRoles::Refuse).expect("it is read")
}

#[test]
fn older_sessions_of_codex_are_read() {
    let about = json!({"id": "old", "timestamp": "2025-01-15T10:00:00Z", "instructions": null});
    let item = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let source = read(&[about, json!({"record_type": "state"}), item]);
    assert_eq!((source.format, names(&source)), (Format::Codex, vec!["old"]));
    assert_eq!(said(&source.conversations[0]), ["user hi"]);
}

fn line(uuid: &str, parent: Option<&str>, fields: Value) -> Value {
    let mut line = json!({
        "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2025-01-15T10:00:00Z",
        "message": {"role": "user", "content": uuid},
    });
    line.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    line
}

#[test]
fn a_session_that_was_compacted_goes_on_and_a_subagent_is_apart() {
    let boundary =
        json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": "a", "message": null});
    let source = read(&[
        line("a", None, json!({})),
        line("x", None, json!({"isSidechain": true, "agentId": "7"})),
        line("b", None, boundary),
        line("c", Some("b"), json!({"isCompactSummary": true})),
        line("d", Some("c"), json!({})),
        line("d", Some("c"), json!({})),
    ]);
    assert_eq!(names(&source), ["s", "s~7"]);
    assert_eq!(said(&source.conversations[0]), ["user a", "user d"]);
    assert_eq!(source.conversations[1].labels["agent"], "7");
}

#[test]
fn a_single_conversation_without_branches_is_read() {
    let message = |uuid, sender| json!({"uuid": uuid, "sender": sender, "text": uuid, "content": []});
    let claude = json!({"uuid": "one", "chat_messages": [message("a", "human"), message("b", "assistant")]});
    assert_eq!(said(&read(&[claude]).conversations[0]), ["user a", "assistant b"]);
    let text =
        |said| json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": [said]}});
    let chatgpt = json!({"id": "two", "mapping": {"n": {"message": text("a"), "parent": null}}});
    assert_eq!(said(&read(&[chatgpt]).conversations[0]), ["user a"]);
    assert_eq!(read(&[json!({"id": "none", "mapping": {}})]).conversations, []);
}

#[test]
fn what_is_left_out_of_a_large_session_is_not_read() {
    for name in ["claude-code.jsonl", "codex.jsonl"] {
        let path = format!("{}/examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        let whole = fs::read(path).expect("the example");
        let program = session(&whole).expect("a session");
        let lines = whole.split_inclusive(|byte| *byte == b'\n');
        let part: Vec<u8> = lines.flat_map(|line| condensed(line, program)).collect();
        assert!(part.len() < whole.len());
        let read = |content| format!("{:?}", parse(content, None, UnknownRoles::Refuse).expect("it is read"));
        assert_eq!(read(&part), read(&whole));
    }
}

#[test]
fn what_is_no_session_is_not_condensed() {
    assert_eq!(session(b"{\"role\":\"user\",\"content\":\"hi\"}\n"), None);
    assert_eq!(condensed(b"{cut off", Format::ClaudeCode), b"{cut off");
    assert_eq!(condensed(b"{cut off", Format::Codex), b"{cut off");
}
