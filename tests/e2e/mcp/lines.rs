//! What is no message is answered or skipped, and what follows it is still read.

use serde_json::{Value, json};

use crate::{mcp::client::Client, support::binary::utterd};

fn silent() -> Client {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    command.arg("mcp");
    Client::silent(command)
}

#[test]
fn what_is_no_message_is_answered() {
    let mut client = silent();
    client.request("initialize", crate::mcp::client::initialize());
    for line in ["{}", "[]", "5", "{\"jsonrpc\":\"2.0\",\"id\":99}", "{\"id\":7,\"method\":\"ping\"}"] {
        client.write_text(line);
        let answer = client.read();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{line}");
    }
}

/// Programs that cut texts anywhere write halves of surrogate pairs, and bytes that are not UTF-8.
#[test]
fn what_is_no_text_is_stored_with_what_replaces_it() {
    let mut client = Client::start();
    for (number, torn) in [b"\\ud83d".as_slice(), b"\xf0\x9f"].into_iter().enumerate() {
        let before = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",", 70 + number);
        let call = br#""params":{"name":"memorize","arguments":{"role":"user","content":"cut "#;
        client.write_bytes(&[before.as_bytes(), call, torn, b"\"}}}\n"].concat());
        let answer = client.read();
        assert_eq!(
            (&answer["id"], &answer["result"]["isError"]),
            (&json!(70 + number), &json!(false)),
            "{answer}"
        );
    }
    let (_, text) = client.call("build_context", json!({}));
    assert!(text.matches("cut \u{fffd}").count() == 2, "{text}");
}

#[test]
fn what_needs_no_answer_gets_none() {
    let mut client = silent();
    client.request("initialize", crate::mcp::client::initialize());
    for line in [
        "",
        "\r",
        "{",
        "not JSON",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    ] {
        client.write_text(line);
    }
    client.write_bytes(b"\xff\xfe\n");
    client.write_text(&"x".repeat((16 << 20) + 1));
    client.request("ping", json!({}));
}

#[test]
fn the_last_line_needs_no_end() {
    let mut client = silent();
    client.request("initialize", crate::mcp::client::initialize());
    client.write_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}");
    client.close();
    let (answers, status) = client.rest();
    assert_eq!((answers.len(), &answers[0]["id"], status.success()), (1, &json!(5), true), "{answers:?}");
}

/// The capability for log messages is not declared, as none are sent.
#[test]
fn a_log_level_cannot_be_set() {
    let mut client = silent();
    let told = client.request("initialize", crate::mcp::client::initialize());
    assert!(told["capabilities"]["tools"].is_object() && told["capabilities"]["logging"].is_null(), "{told}");
    assert_eq!(client.refused("logging/setLevel", json!({ "level": "info" }))["code"], -32601);
}
