//! Conversations as resources, and the prompt that continues one.

use serde_json::{Value, json};

use crate::{mcp::client::Client, support::binary::assert_holds};

fn read(client: &mut Client, uri: &str) -> String {
    let result = client.request("resources/read", json!({ "uri": uri }));
    assert_eq!(
        (&result["contents"][0]["uri"], &result["contents"][0]["mimeType"]),
        (&json!(uri), &json!("text/markdown"))
    );
    result["contents"][0]["text"].as_str().expect("a text").to_owned()
}

#[test]
fn conversations_are_resources() {
    let mut client = Client::start();
    let message = json!([{ "role": "user", "content": "Order 7 is late." }]);
    client.call("memorize", json!({ "messages": message, "conversation_id": "order 7/a" }));
    client.call("end_conversation", json!({}));
    let current = client.memorize("Order 8 is not.");

    let templates = client.request("resources/templates/list", json!({}));
    let uris: Vec<_> = (0..2).map(|place| &templates["resourceTemplates"][place]["uriTemplate"]).collect();
    assert_eq!(uris, ["utterd://conversations/{id}", "utterd://conversations/{id}/summary"]);
    let listed = client.request("resources/list", json!({}));
    let uris: Vec<_> = (0..2).map(|place| &listed["resources"][place]["uri"]).collect();
    assert_eq!(
        uris,
        [&json!(format!("utterd://conversations/{current}")), &json!("utterd://conversations/order%207%2Fa")]
    );
    assert!(listed["nextCursor"].is_null());

    let ended = read(&mut client, "utterd://conversations/order%207%2Fa");
    assert_holds(&ended, &["order 7/a, 20", "**User**, 20", ":\nOrder 7 is late.\n"]);
    assert_holds(
        &read(&mut client, &format!("utterd://conversations/{current}")),
        &["# Conversation\n", "Order 8"],
    );
    for id in ["order%207%2Fa", &current] {
        assert_holds(&read(&mut client, &format!("utterd://conversations/{id}/summary")), &["Order "]);
    }

    let error = client.refused("resources/read", json!({ "uri": "utterd://conversations/none" }));
    assert_eq!(
        (&error["code"], &error["data"]["uri"]),
        (&json!(-32002), &json!("utterd://conversations/none"))
    );
    assert_holds(error["message"].as_str().expect("a message"), &["[CONVERSATION_NOT_FOUND]"]);
    let error = client.refused("resources/read", json!({ "uri": "file:///etc/passwd" }));
    assert_holds(
        error["message"].as_str().expect("a message"),
        &["there is no resource", "utterd://conversations/{id}"],
    );

    let reference = json!({ "type": "ref/resource", "uri": "utterd://conversations/{id}" });
    let params = json!({ "ref": reference, "argument": { "name": "id", "value": "ord" } });
    assert_eq!(client.request("completion/complete", params)["completion"]["values"], json!(["order 7/a"]));
}

#[test]
fn a_long_list_of_resources_comes_in_pages() {
    let mut client = Client::start();
    for number in 0..25 {
        client.memorize(&format!("We talk about part {number}."));
        client.call("end_conversation", json!({}));
    }
    let first = client.request("resources/list", json!({}));
    let second = client.request("resources/list", json!({ "cursor": first["nextCursor"] }));
    let count = |page: &Value| page["resources"].as_array().map(Vec::len);
    assert_eq!((count(&first), count(&second)), (Some(20), Some(5)));
    assert!(second["nextCursor"].is_null());
    let error = client.refused("resources/list", json!({ "cursor": "nonsense" }));
    assert_eq!(error["code"], -32602, "{error}");
}

#[test]
fn a_prompt_continues_a_conversation() {
    let mut client = Client::start();
    let text = |result: Value| result["messages"][0]["content"]["text"].as_str().expect("a text").to_owned();
    let none = text(client.request("prompts/get", json!({ "name": "continue_conversation" })));
    assert_holds(&none, &["There is no earlier conversation"]);
    let first = client.memorize("The train leaves at nine.");
    client.call("end_conversation", json!({}));
    client.memorize("The bus leaves at ten.");
    let newest = text(client.request("prompts/get", json!({ "name": "continue_conversation" })));
    assert_holds(&newest, &["The bus leaves at ten.", "continue from there"]);
    let params = json!({ "name": "continue_conversation", "arguments": { "conversation_id": first } });
    assert_holds(&text(client.request("prompts/get", params)), &["The train leaves at nine."]);
    let listed = client.request("prompts/list", json!({}));
    assert_eq!(listed["prompts"][0]["arguments"][0]["name"], "conversation_id");
}
