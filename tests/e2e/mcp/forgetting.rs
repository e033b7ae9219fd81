//! Nothing is forgotten before it is confirmed.

use serde_json::json;

use crate::{mcp::client::Client, support::binary::assert_holds};

#[test]
fn forgetting_is_told_first_and_done_when_it_is_confirmed() {
    let mut client = Client::start();
    for text in ["One.", "My number is 4711.", "Three."] {
        client.memorize(text);
    }
    let (told, text) = client.call("forget", json!({ "instructions": "about:4711" }));
    assert_eq!(told["forgotten"][0]["sequence"], "2");
    assert_holds(
        &text,
        &[
            "would forget 1 utterance (2)",
            "Nothing is forgotten yet.",
            "expected_revision 4 and confirm true.",
        ],
    );
    assert_eq!(
        client.call("remember", json!({ "prompt": "4711" })).0["matches"].as_array().map(Vec::len),
        Some(1)
    );

    let confirmed = json!({
        "instructions": "about:4711",
        "conversation_id": told["conversationId"],
        "expected_revision": told["revision"],
        "confirm": true,
        "hard": true,
    });
    let (done, text) = client.call("forget", confirmed.clone());
    assert_eq!((&done["mode"], &done["revision"]), (&json!("FORGET_MODE_HARD"), &json!("5")));
    assert_holds(&text, &["forgot 1 utterance (2) for good, understood as about:"]);
    assert_eq!(client.call("remember", json!({ "prompt": "4711" })).0["matches"], json!(null));

    let error = client.fail("forget", confirmed);
    assert_holds(&error, &["[STALE_REVISION]", "Next: the conversation has changed since."]);
}

#[test]
fn what_is_not_understood_or_selects_nothing_is_told() {
    let mut client = Client::start();
    client.memorize("One.");
    let error =
        client.fail("forget", json!({ "instructions": "forget everything about Paris or so, perhaps" }));
    assert_holds(&error, &["[INSTRUCTION_NOT_UNDERSTOOD]", "valid forms: oldest, newest"]);
    let (told, text) = client.call("forget", json!({ "instructions": "turn:9" }));
    assert_eq!(told["forgotten"], json!(null));
    assert!(!text.contains("confirm true"), "{text}");
    assert!(told["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{told}");
}
