//! Arguments as models write them.

use serde_json::{Value, json};

use crate::{mcp::client::Client, support::binary::assert_holds};

/// A client with three messages: two of a user, the first of which is pinned, and one of an assistant.
fn filled() -> Client {
    let mut client = Client::start();
    client.call(
        "memorize",
        json!({ "messages": [
            { "role": "user", "content": "The train leaves at nine.", "pinned": true },
            { "role": "assistant", "content": "The train leaves from platform 4." },
            { "role": "user", "content": "Is it a night train?" },
        ]}),
    );
    client
}

/// The numbers of the matches.
fn found(client: &mut Client, arguments: Value) -> Vec<i64> {
    let (found, _) = client.call("remember", arguments);
    let matches = found["matches"].as_array().into_iter().flatten();
    let sequence = |found: &Value| found["utterance"]["sequence"].as_str().and_then(|it| it.parse().ok());
    let mut found: Vec<_> = matches.map(|found| sequence(found).expect("a number")).collect();
    found.sort_unstable();
    found
}

#[test]
fn searches_are_understood() {
    let mut client = filled();
    for (arguments, expected) in [
        (json!({ "prompt": "train", "limit": "5" }), &[1, 2, 3][..]),
        (json!({ "prompt": "train", "limit": 5.0 }), &[1, 2, 3]),
        (json!({ "limit": "1" }), &[3]),
        (json!({ "top_k": 1 }), &[3]),
        (json!({ "query": "platform" }), &[2]),
        (json!({ "q": "platform" }), &[2]),
        (json!({ "text": ["platform"], "limit": "" }), &[2]),
        (json!({ "prompt": "train", "role": "Assistant" }), &[2]),
        (json!({ "prompt": "train", "role": "human" }), &[1, 3]),
        (json!({ "prompt": 4, "recipientId": "tester" }), &[2]),
        (json!({ "prompt": "train", "since": "yesterday" }), &[1, 2, 3]),
        (json!({ "prompt": "train", "since": "3 days ago", "before": "now" }), &[1, 2, 3]),
        (json!({ "prompt": "train", "start_time": "last week" }), &[1, 2, 3]),
        (json!({ "prompt": "train", "before": "today" }), &[]),
        (json!({ "prompt": "train", "before": "2026-01-01" }), &[]),
        (json!({ "prompt": "train", "since": "2026-01-01 10:00" }), &[1, 2, 3]),
        (json!({ "prompt": "train", "verbose": true }), &[1, 2, 3]),
    ] {
        assert_eq!(found(&mut client, arguments.clone()), expected, "{arguments}");
    }
    let (_, text) = client.call("remember", json!({ "prompt": "train", "since": "2026-01-01" }));
    assert_holds(&text, &["Searched: since 2026-01-01T00:00:00Z.\n"]);
}

#[test]
fn messages_are_understood() {
    for (arguments, expected) in [
        (json!({ "role": "user", "content": "One." }), "User: One."),
        (json!({ "messages": { "role": "User", "content": "One." } }), "User: One."),
        (json!({ "messages": "[{\"role\":\"human\",\"text\":\"One.\"}]" }), "User: One."),
        (json!({ "message": [{ "speaker": "AI", "message": "One." }] }), "Assistant: One."),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": "One." }] }] }),
            "User: One.",
        ),
        (json!({ "messages": [{ "role": "user", "content": 42 }] }), "User: 42"),
        (
            json!({ "messages": [
                { "role": "assistant", "tool_calls": [
                    { "id": "c", "type": "function", "function": { "name": "look", "arguments": "{\"a\":1}" } },
                ]},
                { "role": "function", "toolCallId": "c", "content": "found" },
            ]}),
            "look",
        ),
    ] {
        let mut client = Client::start();
        client.call("memorize", arguments.clone());
        let (_, text) = client.call("build_context", json!({}));
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

#[test]
fn other_calls_are_understood() {
    let mut client = filled();
    let (context, _) = client.call("build_context", json!({ "max_turns": "1", "budget": "500" }));
    assert!(context["omitted"].is_array(), "{context}");
    let (told, _) =
        client.call("forget", json!({ "instruction": "newest", "confirm": "false", "hard": "no" }));
    assert_eq!(told["mode"], "FORGET_MODE_SOFT");
    let revision = &told["revision"];
    let confirmed = json!({ "instructions": "newest", "confirm": "yes", "expectedRevision": revision });
    assert!(client.call("forget", confirmed).1.starts_with("forgot 1 utterance"));
    let (summary, _) =
        client.call("summarize", json!({ "focus": "train", "scope": "ALL", "max_tokens": "90" }));
    assert!(summary["text"].as_str().is_some_and(|text| text.contains("train")), "{summary}");
    let (ended, _) = client.call("end_conversation", json!({ "reason": 7 }));
    let id = &ended["conversation"]["conversationId"];
    for arguments in [json!({ "list_recent": true }), json!({ "limit": "3" }), json!({ "list_recent": "3" })]
    {
        assert_eq!(client.call("get_conversation", arguments).0["conversations"][0]["id"], *id);
    }
    let (read, _) = client.call("get_conversation", json!({ "id": id, "from_message": "1" }));
    assert_eq!(read["id"], *id);
}

#[test]
fn what_is_ignored_is_told() {
    let mut client = Client::start();
    let message = json!({ "role": "user", "content": "One.", "timestamp": "2026-11-20" });
    let params = json!({ "name": "memorize", "arguments": { "messages": [message], "mood": "good" } });
    let result = client.request("tools/call", params);
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["memorized"][0]["sequence"]),
        (&json!(false), &json!("1"))
    );
    assert_eq!(
        result["content"][1]["text"],
        "Ignored, as memorize has no such argument: messages[0].timestamp, mood."
    );
    // the argument's own name goes before another one
    let params = json!({ "name": "remember", "arguments": { "query": "zebra", "prompt": "One" } });
    let result = client.request("tools/call", params);
    assert_eq!(result["structuredContent"]["matches"][0]["utterance"]["sequence"], "1");
    assert_eq!(result["content"][1]["text"], "Ignored, as remember has no such argument: query.");
}

/// Without the argument, the call would work on another conversation, or forget something else.
#[test]
fn what_cannot_be_ignored_is_refused() {
    let mut client = filled();
    for (tool, arguments, expected) in [
        (
            "remember",
            json!({ "prompt": "x", "session_id": "s" }),
            "session_id: remember has no such argument",
        ),
        ("end_conversation", json!({ "thread": "t" }), "thread: end_conversation has no such argument"),
        (
            "memorize",
            json!({ "role": "user", "content": "x", "user_name": "Ann" }),
            "user_name: memorize has no such argument; accepted: messages, conversation_id, recipient_id, request_id.",
        ),
        (
            "forget",
            json!({ "instructions": "all", "confirm": true, "dry_run": true }),
            "dry_run: forget has no such argument; accepted: instructions, confirm, hard, ",
        ),
    ] {
        let result = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let [told] = result["content"].as_array().expect("a list").as_slice() else { panic!("{result}") };
        assert_eq!(result["isError"], true, "{result}");
        assert_holds(told["text"].as_str().expect("a text"), &[expected]);
    }
    assert_eq!(client.call("get_capacity_info", json!({})).0["capacity"]["utteranceCount"], 3);
}
