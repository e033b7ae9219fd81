//! What is memorized is found, shown, summarised and counted; errors are reported.

use serde_json::json;

use crate::{mcp::client::Client, support::binary::assert_holds};

#[test]
fn what_is_memorized_is_found_shown_and_summarised() {
    let mut client = Client::start();
    let (stored, text) = client.call(
        "memorize",
        json!({ "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "name": "Ann", "content": "My flight HAT136 leaves on May 23. Can I move it?" },
            { "role": "assistant", "tool_calls": [{ "id": "c1", "name": "find_flight", "arguments": { "id": 136 } }] },
            { "role": "tool", "tool_call_id": "c1", "content": "{\"seats\":3}" },
            { "role": "assistant", "content": "I moved HAT136 to 8 am.", "tools_used": ["move_flight"], "pinned": true },
        ]}),
    );
    assert_eq!(stored["memorized"][4]["sequence"], "5");
    assert_eq!((&stored["startedConversation"], &stored["replayed"]), (&json!(true), &json!(null)));
    assert_holds(&text, &["Stored 5 messages (1–5) in the new conversation ", " of 8,000 tokens."]);

    let (found, text) =
        client.call("remember", json!({ "prompt": "when does the flight leave?", "role": "user" }));
    assert_eq!(found["matches"][0]["utterance"]["sequence"], "2");
    assert_eq!(
        (&found["matches"][0]["utterance"]["name"], &found["matches"].as_array().map(Vec::len)),
        (&json!("Ann"), &Some(1))
    );
    assert_holds(&text, &["] user Ann: My flight HAT136 leaves on May 23. Can I move it?\n"]);
    let (cut, text) = client.call("remember", json!({ "prompt": "flight", "max_characters": 9, "limit": 1 }));
    assert_eq!(cut["matches"].as_array().map(Vec::len), Some(1));
    assert_holds(&text, &[" […]\n", "There is more: raise limit"]);
    let (none, text) = client.call("remember", json!({ "prompt": "zebra", "since": "2026-01-01" }));
    assert_eq!(none["matches"], json!(null));
    assert_holds(&text, &["Nothing was found.", "list_recent"]);

    let (context, text) = client.call("build_context", json!({ "instructions": "Speak French." }));
    assert_eq!(context["text"], text);
    assert_holds(
        &text,
        &["Speak French.", "User (Ann): My flight HAT136 leaves on May 23.", "[used: move_flight]"],
    );
    let (_, text) = client.call("build_context", json!({ "format": "anthropic_messages" }));
    let request: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(request["system"][0]["text"], "Be brief.");
    assert_eq!(request["messages"][1]["content"][0]["name"], "find_flight");
    assert_eq!(request["messages"][1]["content"][0]["input"], json!({ "id": 136 }));
    let (context, text) = client.call("build_context", json!({ "format": "openai_chat", "max_turns": 1 }));
    assert_eq!(context["messagesJson"], json!(text));

    let (summary, text) = client.call("summarize", json!({ "focus_areas": ["seats"], "token_limit": 100 }));
    assert_eq!((&summary["text"], &summary["method"]), (&json!(text), &json!("SUMMARY_METHOD_EXTRACTIVE")));
    assert_holds(&text, &["HAT136"]);
    let (capacity, text) = client.call("get_capacity_info", json!({}));
    let capacity = &capacity["capacity"];
    assert_eq!((&capacity["recipientId"], &capacity["utteranceCount"]), (&json!("tester"), &json!(5)));
    assert_holds(&text, &[" · active · revision ", " of 8,000 tokens · 5 of 20 utterances · 1 turn\n"]);
}

#[test]
fn what_nobody_has_said_yet_is_no_error() {
    let mut client = Client::start();
    let (_, text) = client.call("get_capacity_info", json!({}));
    assert_holds(&text, &["tester has no conversation yet", "0 of 20 utterances"]);
    assert_eq!(
        client.call("build_context", json!({})).1,
        "There is no conversation yet: memorize starts one."
    );
    let (_, text) = client.call("summarize", json!({}));
    assert!(!text.is_empty());
    assert_eq!(client.call("get_conversation", json!({})).0, json!({ "conversations": [] }));
    let error = client.fail("end_conversation", json!({}));
    assert_holds(&error, &["[CONVERSATION_NOT_FOUND]", "Next: ", "memorize starts one"]);
}

#[test]
fn each_call_names_its_conversation() {
    let mut client = Client::start();
    let here = client.memorize("The train leaves at nine.");
    let message = json!([{ "role": "user", "content": "The bus leaves at ten." }]);
    let (stored, _) = client.call("memorize", json!({ "messages": message, "recipient_id": "bob" }));
    let there = stored["conversationId"].as_str().expect("an id");
    assert_ne!(here, there);
    let (capacity, _) = client.call("get_capacity_info", json!({ "conversation_id": there }));
    assert_eq!(capacity["capacity"]["recipientId"], "bob");
    let (found, _) = client.call("remember", json!({ "prompt": "leaves", "recipient_id": "bob" }));
    assert_eq!(found["matches"][0]["utterance"]["content"], "The bus leaves at ten.");
    assert_eq!(client.call("build_context", json!({ "conversation_id": here })).0["conversationId"], here);
    let error = client.fail("memorize", json!({ "messages": message, "conversation_id": there }));
    assert_holds(&error, &["[RECIPIENT_MISMATCH]", "Next: leave out recipient_id"]);
}

#[test]
fn an_attempt_that_is_repeated_stores_nothing_twice() {
    let mut client = Client::start();
    let arguments = json!({ "messages": [{ "role": "user", "content": "once" }], "request_id": "r1" });
    let (first, _) = client.call("memorize", arguments.clone());
    let (second, text) = client.call("memorize", arguments);
    assert_eq!((&first["revision"], &second["replayed"]), (&second["revision"], &json!(true)));
    assert_holds(&text, &["Had stored 1 message"]);
    assert_eq!(client.call("get_capacity_info", json!({})).0["capacity"]["utteranceCount"], 1);
}

#[test]
fn what_leaves_the_window_is_told() {
    let mut client = Client::start();
    for turn in 0..20 {
        client.memorize(&format!("Build {turn} fails in src/part_{turn}.rs."));
    }
    let message = json!([{ "role": "user", "content": "And now?" }]);
    let (stored, text) = client.call("memorize", json!({ "messages": message }));
    assert_eq!(stored["evicted"].as_array().map(Vec::len), Some(5));
    assert_holds(&text, &["5 older messages left the window for the summary."]);
    let (capacity, text) = client.call("get_capacity_info", json!({}));
    assert_eq!(capacity["capacity"]["archivedUtteranceCount"], 5);
    assert_holds(&text, &["archive: 5 utterances\n"]);
    let (summary, _) = client.call("summarize", json!({ "scope": "evicted" }));
    assert!(summary["text"].as_str().is_some_and(|text| text.contains("part_")), "{summary}");
    let (context, _) = client.call("build_context", json!({ "max_turns": 1 }));
    assert_eq!(context["omitted"][0]["reason"], "OMISSION_REASON_EVICTED");
    assert_eq!(context["omitted"][0]["sequences"][0], json!({ "first": "1", "last": "5" }));
}

/// However long a message is, and whatever is asked for.
#[test]
fn an_answer_is_bounded() {
    let mut client = Client::start();
    let long = "word ".repeat(60_000);
    let mut messages = vec![json!({ "role": "user", "content": "Read it." })];
    messages.push(json!({ "role": "assistant", "tool_calls": [{ "id": "c", "name": "read" }] }));
    messages.push(json!({ "role": "tool", "tool_call_id": "c", "content": long }));
    messages.push(json!({ "role": "assistant", "content": long }));
    client.call("memorize", json!({ "messages": messages }));
    client.memorize("And now?");
    let (context, text) = client.call("build_context", json!({}));
    assert!(context["tokenCount"].as_i64().is_some_and(|count| count <= 9_064), "{}", context["tokenCount"]);
    assert!(text.len() < 80_000, "{}", text.len());
    let all = json!({ "prompt": "word", "max_characters": 1_000_000, "limit": 50 });
    let (found, text) = client.call("remember", all);
    assert!((50_000..80_000).contains(&text.len()) && text.contains("There is more"), "{}", text.len());
    assert!(found.to_string().len() < 80_000, "{}", found.to_string().len());
    let (ended, _) = client.call("end_conversation", json!({}));
    let id = &ended["conversation"]["conversationId"];
    let (read, text) = client.call("get_conversation", json!({ "conversation_id": id }));
    assert!(text.len() < 80_000, "{}", text.len());
    let next = json!({ "conversation_id": id, "from_message": read["nextMessage"] });
    let (_, text) = client.call("get_conversation", next);
    assert!(text.len() < 80_000 && text.contains(" […] [cut off: "), "{}", text.len());
}

#[test]
fn wrong_arguments_are_told_by_their_names() {
    let mut client = Client::start();
    for (tool, arguments, expected) in [
        ("memorize", json!({}), "The arguments of memorize are wrong: missing field `messages`"),
        (
            "memorize",
            json!({ "messages": [{ "role": "usr" }] }),
            "messages[0].role: unknown variant `usr`, expected",
        ),
        ("memorize", json!({ "messages": [] }), "[EMPTY_BATCH]"),
        (
            "memorize",
            json!({ "messages": "x" }),
            "messages[0]: invalid type: string \"x\", expected an object with role and content",
        ),
        ("remember", json!({ "limit": 51 }), "limit: is 51; accepted: 1 to 50."),
        ("remember", json!({ "limit": "ten" }), "limit: invalid type: string \"ten\""),
        ("remember", json!({ "max_characters": 0 }), "max_characters: is 0; accepted: 1 or more."),
        (
            "remember",
            json!({ "since": "some day" }),
            "since: is \"some day\"; accepted: 2026-11-20, 2026-11-20T10:00:00Z, today, yesterday, ",
        ),
        ("summarize", json!({ "scope": "recent" }), "recent_count: is missing"),
        ("get_conversation", json!({ "list_recent": 0 }), "list_recent: is 0; accepted: 1 to 100."),
        ("get_conversation", json!({ "list_recent": 1.5 }), "list_recent: is 1.5; accepted: 1 to 100."),
        ("get_conversation", json!({ "conversation_id": "x", "from_message": 0 }), "from_message: must be 1"),
        ("end_conversation", json!({ "conversation_id": "x\ny" }), "[INVALID_ID]"),
        ("build_context", json!({ "format": "xml" }), "format: unknown variant `xml`"),
        ("forget", json!({ "instructions": "last:2" }), "[CONVERSATION_NOT_FOUND]"),
    ] {
        let error = client.fail(tool, arguments.clone());
        assert!(error.contains(expected), "{tool} {arguments}: {error}");
    }
    let error = client
        .fail("memorize", json!({ "messages": [{ "role": "tool", "content": "42", "tool_call_id": "c9" }] }));
    assert_holds(&error, &["[NO_OPEN_CALL]", "Next: memorize the assistant's message with tool_calls first"]);
    client.memorize("Nothing of this was lost.");
    let error = client.fail("build_context", json!({ "token_budget": 1 }));
    assert_holds(&error, &["token_budget: is 1; accepted: "]);
}

/// Optional arguments can be null, as models write them.
#[test]
fn null_is_as_good_as_nothing() {
    let mut client = Client::start();
    client.memorize("The train leaves at nine.");
    let arguments =
        json!({ "prompt": "train", "role": null, "scope": null, "limit": null, "conversation_id": null });
    assert_eq!(client.call("remember", arguments).0["matches"].as_array().map(Vec::len), Some(1));
    let params = json!({ "name": "get_capacity_info" });
    assert_eq!(client.request("tools/call", params)["isError"], false);
}
