//! What ChatGPT, Claude, Claude Code and Codex keep.

use std::fs;

use serde_json::{Value, json};
use utterd::{
    domain::import::Branch,
    formats::{Condenser, Format, Parsed, Source, UnknownRoles, parse},
};

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
    assert_eq!(said(again), ["assistant About nine kilometres."]);
    assert_eq!(again.branch, Some(Branch { of: 0, after: 0 }));
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
    assert_eq!(left.branch, Some(Branch { of: 0, after: 3 }));
    assert_eq!(said(left), ["user How many folds?", "assistant Four, half an hour apart."]);
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
    assert_eq!(left.branch, Some(Branch { of: 0, after: 4 }));
    assert_eq!(said(left), ["user Use Decimal.", "assistant Decimal it is."]);
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
    assert_eq!(left.branch, Some(Branch { of: 0, after: 4 }));
    assert_eq!(said(left), ["user Delete it.", "assistant Deleted."]);
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
        let mut condenser = Condenser::of(&whole).expect("a session");
        let lines = whole.split_inclusive(|byte| *byte == b'\n');
        let part: Vec<u8> = lines.flat_map(|line| condenser.line(line)).collect();
        assert!(part.len() < whole.len());
        let read = |content| format!("{:?}", parse(content, None, UnknownRoles::Refuse).expect("it is read"));
        assert_eq!(read(&part), read(&whole));
    }
}

#[test]
fn what_is_no_session_is_not_condensed() {
    assert!(Condenser::of(b"{\"role\":\"user\",\"content\":\"hi\"}\n").is_none());
    for name in ["claude-code.jsonl", "codex.jsonl"] {
        let mut condenser = Condenser::of(&bytes(name)).expect("a session");
        assert_eq!(condenser.line(b"{cut off\n"), b"{cut off\n");
    }
}

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read(path).expect("the example")
}

fn parsed(content: &[u8]) -> Source {
    parse(content, None, UnknownRoles::Refuse).expect("it is read")
}

/// Whatever line is torn, wherever, the others are read, and that line is named, in a large session too.
#[test]
fn a_session_with_a_torn_line_is_read_without_it() {
    for name in ["claude-code.jsonl", "codex.jsonl"] {
        let whole = bytes(name);
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        for torn in 0..lines.len() {
            let without = parsed(&[&lines[..torn], &lines[torn + 1..]].concat().concat());
            for cut in [1, lines[torn].len() / 2, lines[torn].len() - 2] {
                for end in ["\n", "\0\0\0\n"] {
                    let cut = [&lines[torn][..cut], end.as_bytes()].concat();
                    let file = [&lines[..torn], &[&cut], &lines[torn + 1..]].concat();
                    let mut condenser = Condenser::of(&file.concat()).expect("a session");
                    let condensed: Vec<u8> = file.iter().flat_map(|line| condenser.line(line)).collect();
                    for content in [file.concat(), condensed] {
                        let source = parsed(&content);
                        assert_eq!(source.conversations, without.conversations);
                        assert_eq!(source.notes[0].place, format!("line {}", torn + 1));
                        assert!(source.torn.is_some());
                    }
                }
            }
        }
    }
}

/// The messages on both sides of a lost one stay in one conversation.
#[test]
fn what_follows_a_lost_message_follows_the_one_before_it() {
    let agent = json!({"isSidechain": true, "agentId": "7"});
    let source = read(&[
        line("a", None, json!({})),
        line("x", None, agent.clone()),
        line("c", Some("b"), json!({})),
        line("z", Some("y"), agent),
        line("d", Some("c"), json!({})),
        line("e", Some("gone"), json!({"sessionId": "t"})),
    ]);
    assert_eq!(names(&source), ["t", "s~7", "s"]);
    assert_eq!(said(&source.conversations[1]), ["user x", "user z"]);
    assert_eq!(said(&source.conversations[2]), ["user a", "user c", "user d"]);
}

/// A branch repeats what it cannot be read without; the rest it shares.
#[test]
fn a_branch_within_an_exchange_repeats_the_exchange() {
    let answer =
        |content: Value| json!({"type": "assistant", "message": {"role": "assistant", "content": content}});
    let call = answer(json!([{"type": "tool_use", "id": "t", "name": "find", "input": {}}]));
    let source = read(&[
        line("a", None, json!({})),
        line("b", Some("a"), answer(json!("Hi."))),
        line("c", Some("b"), json!({})),
        line("d", Some("c"), call),
        line("e", Some("d"), answer(json!("Left."))),
        line("f", Some("d"), answer(json!("Kept."))),
    ]);
    assert_eq!(names(&source), ["s", "s~e"]);
    let [main, left] = source.conversations.as_slice() else { panic!("two") };
    assert_eq!(ids(main), ["a", "b", "c", "d", "f"]);
    assert_eq!((ids(left), left.branch), (vec!["d", "e"], Some(Branch { of: 0, after: 2 })));
}

#[test]
fn branches_beyond_the_limit_are_refused() {
    let first = line("first", None, json!({}));
    let branch = |at: usize| line(&format!("b{at}"), Some("first"), json!({}));
    let refusal = |count| {
        let lines: Vec<String> =
            [first.clone()].into_iter().chain((0..count).map(branch)).map(|line| line.to_string()).collect();
        parse(lines.join("\n").as_bytes(), None, UnknownRoles::Refuse)
            .err()
            .map(|refusal| refusal.to_string())
    };
    assert_eq!(refusal(501), None);
    assert!(refusal(502).is_some_and(|refusal| refusal.contains("more than 500 branches")));
    let long = json!({"type": "assistant", "message": {"role": "assistant", "content": "x".repeat(10_000)}});
    let answer = json!({"type": "assistant", "message": {"role": "assistant", "content": "Yes."}});
    let branch = |at: usize| line(&format!("b{at}"), Some("long"), answer.clone());
    let lines =
        [first.clone(), line("asked", Some("first"), long.clone()), line("long", Some("asked"), long)];
    let lines: Vec<String> =
        lines.into_iter().chain((0..9).map(branch)).map(|line| line.to_string()).collect();
    let refusal = parse(lines.join("\n").as_bytes(), None, UnknownRoles::Refuse).expect_err("too much");
    assert!(refusal.to_string().contains("which repeat more than all of it"), "{refusal}");
}

fn codex(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2025-01-15T10:00:00Z", "type": kind, "payload": payload})
}

fn item(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

/// Codex can replace a session's lines with a snapshot of them, and takes snapshots of what its lines hold.
#[test]
fn a_snapshot_gives_what_only_it_has() {
    let bare = json!({"role": "user", "content": [{"type": "input_text", "text": "two"}]});
    let context = item("user", "<environment_context>x</environment_context>");
    let sealed = json!({"type": "compaction", "encrypted_content": "gAAAA"});
    let history = |message: &str, items: Value| {
        codex("compacted", json!({"message": message, "replacement_history": items}))
    };
    let about = || codex("session_meta", json!({"id": "c"}));
    let first =
        history("So far.", json!([context, item("user", "one"), bare, item("user", "So far."), sealed]));
    let second = history("", json!([item("user", "one"), item("user", "three")]));
    let lines = [
        about(),
        codex("response_item", context),
        first,
        codex("response_item", item("user", "three")),
        second,
        codex("response_item", item("assistant", "four")),
    ];
    let source = read(&lines);
    let all = said(&source.conversations[0]);
    assert_eq!(all[1..], ["user one", "user two", "user three", "assistant four"], "{all:?}");

    let text = lines.map(|line| line.to_string() + "\n");
    let mut condenser = Condenser::of(text.concat().as_bytes()).expect("a session");
    let condensed = text.map(|line| condenser.line(line.as_bytes()));
    assert_eq!(condensed[4], b"\n", "the second snapshot is not read");
    assert_eq!(parsed(&condensed.concat()).conversations, source.conversations);
}

/// What another program writes in a similar form is not taken for a conversation without messages.
#[test]
fn what_another_program_wrote_is_refused() {
    let node = json!({"message": {"fragments": [{"type": "REQUEST", "content": "hi"}]}, "parent": null});
    let event = json!({"type": "log", "timestamp": "2025-01-15T10:00:00Z", "payload": {"x": 1}});
    for (value, format) in [
        (json!([{"id": "x", "mapping": {"a": node}}]), None),
        (json!([{"uuid": "x", "chat_messages": [{"from": "me", "body": "hi"}]}]), None),
        (event.clone(), None),
        (event.clone(), Some(Format::Codex)),
        (event, Some(Format::ClaudeCode)),
    ] {
        let refusal = parse(value.to_string().as_bytes(), format, UnknownRoles::Refuse).expect_err("foreign");
        assert!(refusal.to_string().starts_with("content: holds nothing that "), "{refusal}");
    }
}
