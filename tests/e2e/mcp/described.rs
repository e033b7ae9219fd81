//! The descriptions that clients get: of the server, of its tools, and of their arguments.

use serde_json::{Value, json};
use utterd::{domain::Encoding, tokenizer::counter};

use crate::mcp::client::Client;

fn tools(client: &mut Client) -> Vec<Value> {
    client.request("tools/list", json!({}))["tools"].as_array().expect("a list").clone()
}

fn tool<'t>(tools: &'t [Value], name: &str) -> &'t Value {
    tools.iter().find(|tool| tool["name"] == name).expect("the tool is there")
}

/// Every schema in `schema`, including itself.
fn schemas<'s>(schema: &'s Value, found: &mut Vec<&'s Value>) {
    match schema {
        Value::Object(fields) => {
            found.push(schema);
            fields.values().for_each(|value| schemas(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| schemas(value, found)),
        _ => {}
    }
}

/// The tools that are listed without and with `--all-tools`.
fn lists() -> [Vec<Value>; 2] {
    [Client::of_model(), Client::start()].map(|mut client| tools(&mut client))
}

#[test]
fn every_tool_is_there_and_says_what_it_does() {
    let usual = ["memorize", "remember", "get_conversation", "end_conversation", "build_context", "forget"];
    let all = [&usual[..], &["summarize", "get_capacity_info"]].concat();
    let lists = lists();
    for (tools, expected) in lists.iter().zip([&usual[..], &all]) {
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
        assert_eq!(names, expected);
        for tool in tools {
            let hints = &tool["annotations"];
            assert_eq!(hints["destructiveHint"], tool["name"] == "forget", "{tool}");
            let adds = ["memorize", "end_conversation", "forget"];
            assert_eq!(
                hints["readOnlyHint"],
                !adds.contains(&tool["name"].as_str().expect("a name")),
                "{tool}"
            );
            assert!(tool["title"].is_string(), "{tool}");
        }
    }
}

/// Clients that get an answer for programs give it to their model in place of the text.
#[test]
fn a_model_gets_the_text_alone() {
    let mut client = Client::of_model();
    let params = json!({ "name": "remember", "arguments": { "prompt": "train" } });
    let answer = client.request("tools/call", params);
    assert!(answer["structuredContent"].is_null(), "{answer}");
    assert!(answer["content"][0]["text"].as_str().is_some_and(|text| text.contains("Nothing was found.")));
}

/// A client gives the list to its model with each request, and some give all of it.
#[test]
fn the_tools_cost_a_model_few_tokens() {
    let [usual, all] = lists().map(|tools| Value::Array(tools).to_string());
    for encoding in [Encoding::O200kBase, Encoding::Cl100kBase] {
        let tokens = |list: &str| counter(encoding).count(list);
        let spaced = usual.replace("\":", "\": ").replace(",\"", ", \"");
        assert!(tokens(&spaced) <= 2_000, "{}", tokens(&spaced));
        assert!(tokens(&usual) < tokens(&all), "{}", tokens(&all));
    }
}

/// So that every model provider understands them.
#[test]
fn arguments_are_described_in_plain_schemas() {
    for tool in lists().concat() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        for (name, argument) in tool["inputSchema"]["properties"].as_object().expect("arguments") {
            assert!(
                argument["description"].as_str().is_some_and(|text| text.len() > 15),
                "{name}: {argument}"
            );
        }
        let mut all = Vec::new();
        schemas(&tool["inputSchema"], &mut all);
        for schema in all {
            assert!(!schema["type"].is_array() && schema["$ref"].is_null(), "{schema}");
            assert!(schema["default"].is_null() && schema["anyOf"].is_null(), "{schema}");
            assert!(!schema["format"].as_str().is_some_and(|format| format.starts_with("uint")), "{schema}");
        }
    }
}

/// Seed 000 prescribes the wording of these two.
#[test]
fn the_tools_of_conversations_are_worded_as_the_seed_does() {
    let mut client = Client::start();
    let tools = tools(&mut client);
    let end = tool(&tools, "end_conversation");
    assert_eq!(
        end["description"],
        "End the current conversation and generate a summary. Use this when a topic is concluded, the user \
         indicates they're done, or when moving to an unrelated topic."
    );
    let arguments = &end["inputSchema"]["properties"];
    assert_eq!(arguments["reason"]["type"], "string");
    assert_eq!(
        arguments["reason"]["description"],
        "Optional reason for ending (e.g., 'task completed', 'user requested')"
    );
    let get = tool(&tools, "get_conversation");
    assert_eq!(
        get["description"],
        "Retrieve past conversation details. Use with conversation_id to get a specific conversation's full \
         history, or use list_recent to get summaries of recent conversations. Only completed conversations are \
         accessible (not the current active one)."
    );
    let arguments = &get["inputSchema"]["properties"];
    assert_eq!(arguments["conversation_id"]["type"], "string");
    assert_eq!(
        arguments["conversation_id"]["description"],
        "The ID of a specific conversation to retrieve. Returns full conversation history with all messages."
    );
    assert_eq!(arguments["list_recent"]["type"], "number");
    assert_eq!(
        arguments["list_recent"]["description"],
        "Number of recent conversations to list (summaries only, no full message content). Defaults to 10."
    );
    for tool in [end, get] {
        assert!(tool["inputSchema"]["required"].as_array().is_none_or(Vec::is_empty), "{tool}");
    }
}

#[test]
fn what_is_not_there_is_refused_by_its_name() {
    let mut client = Client::start();
    let error = client.refused("tools/call", json!({ "name": "recall", "arguments": {} }));
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().expect("a message");
    assert!(message.starts_with("there is no tool recall; there are memorize, remember, "), "{message}");
    assert_eq!(client.refused("tasks/list", json!({}))["code"], -32601);
}

#[test]
fn a_newer_client_needs_no_greeting() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = crate::support::binary::utterd(directory.path());
    command.arg("mcp");
    let mut client = Client::silent(command);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({ "_meta": meta }));
    assert!(
        found["supportedVersions"].as_array().is_some_and(|it| it.contains(&"2026-07-28".into())),
        "{found}"
    );
    let params = json!({ "name": "get_capacity_info", "arguments": {}, "_meta": meta });
    assert_eq!(client.request("tools/call", params)["structuredContent"]["capacity"]["utteranceCount"], 0);
}
