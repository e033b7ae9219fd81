//! Conversations are ended, listed and read again, as seed 000 requires.

use serde_json::json;

use crate::{mcp::client::Client, support::binary::assert_holds};

#[test]
fn a_conversation_that_ended_is_listed_and_read() {
    let mut client = Client::start();
    let (stored, _) = client.call(
        "memorize",
        json!({ "messages": [
            { "role": "user", "content": "Create a note about today's meeting" },
            { "role": "assistant", "tool_calls": [{ "id": "c1", "name": "write_file" }] },
            { "role": "tool", "tool_call_id": "c1", "content": "ok" },
            { "role": "assistant", "content": "I've created 'Meeting Notes.md' in your Journal folder." },
        ]}),
    );
    let id = &stored["conversationId"];
    let error = client.fail("get_conversation", json!({ "conversation_id": id }));
    assert_holds(
        &error,
        &[" has not ended", "Next: call remember or build_context with this conversation_id"],
    );

    let (ended, text) = client.call("end_conversation", json!({ "reason": "task completed" }));
    let ended = &ended["conversation"];
    assert_eq!((&ended["conversationId"], &ended["utteranceCount"]), (id, &json!(4)));
    assert_holds(&text, &["ended ", "What is memorized next starts another conversation."]);

    let (list, text) = client.call("get_conversation", json!({}));
    assert_eq!(list, serde_json::from_str::<serde_json::Value>(&text).expect("JSON"));
    let ended = &list["conversations"][0];
    assert_eq!((&ended["id"], &ended["messageCount"]), (id, &json!(4)));
    for field in ["title", "summary", "startedAt", "endedAt"] {
        assert!(ended[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {ended}");
    }

    let (read, _) = client.call("get_conversation", json!({ "conversation_id": id, "list_recent": 3 }));
    for field in ["id", "title", "summary", "startedAt", "endedAt"] {
        assert_eq!(read[field], ended[field], "{field}");
    }
    let messages = read["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2, "{read}");
    assert_eq!((&messages[0]["role"], &messages[0]["toolsUsed"]), (&json!("user"), &json!(null)));
    assert_eq!(
        (&messages[1]["role"], &messages[1]["toolsUsed"]),
        (&json!("assistant"), &json!(["write_file"]))
    );
    assert!(messages[0]["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
    assert!(read["nextMessage"].is_null(), "{read}");

    let more = json!([{ "role": "user", "content": "One more thing." }]);
    let error = client.fail("memorize", json!({ "messages": more, "conversation_id": id }));
    assert_holds(&error, &["[CONVERSATION_CLOSED]", "memorize without a conversation_id starts"]);
    let (stored, _) = client.call("memorize", json!({ "messages": more }));
    assert_ne!(&stored["conversationId"], id);
    let error = client.fail("get_conversation", json!({ "conversation_id": "elsewhere" }));
    assert_holds(&error, &["[CONVERSATION_NOT_FOUND]", "Next: call get_conversation with list_recent"]);
}

#[test]
fn the_last_ten_are_listed_the_newest_first() {
    let mut client = Client::start();
    let mut ids = Vec::new();
    for number in 0..12 {
        ids.push(client.memorize(&format!("We talk about part {number}.")));
        client.call("end_conversation", json!({}));
    }
    ids.reverse();
    let mut listed = |arguments| {
        let (list, _) = client.call("get_conversation", arguments);
        let list = list["conversations"].as_array().expect("a list").clone();
        list.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(json!({})), ids[..10]);
    assert_eq!(listed(json!({ "list_recent": 2 })), ids[..2]);
    assert_eq!(listed(json!({ "list_recent": 100.0 })), ids);
    assert_eq!(listed(json!({ "recipient_id": "bob" })), [""; 0]);
}

#[test]
fn a_long_conversation_is_read_in_parts() {
    let mut client = Client::start();
    let long = "word ".repeat(5_000);
    for number in 1..=6 {
        client.memorize(&format!("{number}: {long}"));
    }
    let (ended, _) = client.call("end_conversation", json!({}));
    let (mut from, mut read) = (1, Vec::new());
    loop {
        let id = &ended["conversation"]["conversationId"];
        let arguments = json!({ "conversation_id": id, "from_message": from });
        let (part, text) = client.call("get_conversation", arguments);
        assert!(text.len() < 80_000, "{}", text.len());
        let messages = part["messages"].as_array().expect("messages").clone();
        read.extend(messages.iter().map(|it| it["content"].as_str().expect("a text")[..1].to_owned()));
        match part["nextMessage"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(read, ["1", "2", "3", "4", "5", "6"]);
}
