//! The source of the conversations: a running server, or the process's own.

use std::process::Stdio;

use serde_json::json;

use crate::{
    mcp::client::Client,
    support::binary::{Outcome, Server, assert_holds, token, utterd},
};

#[test]
fn a_running_servers_conversations_are_offered() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "mcp-1", "-r", "tester", "The train leaves at nine."]).worked();
    for named in [true, false] {
        let mut command = utterd(server.directory.path());
        command.arg("mcp");
        match named {
            true => command.args(["--server", &server.address]),
            false => command.env("UTTERD_SERVER", &server.address),
        };
        let mut client = Client::of(command);
        let (found, _) = client.call("remember", json!({ "prompt": "train", "conversation_id": "mcp-1" }));
        assert_eq!(found["matches"][0]["utterance"]["content"], "The train leaves at nine.");
        client.close();
        assert!(client.rest().1.success());
    }
}

#[test]
fn files_are_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let flags = ["--data-dir", "memory"];
    let mut first = Client::start_in(directory.path(), &flags);
    first.memorize("The train leaves at nine.");
    first.close();
    assert!(first.rest().1.success());
    // a flag overrides the environment
    let mut command = utterd(directory.path());
    command.arg("mcp").args(flags).env("UTTERD_SERVER", "127.0.0.1:1");
    let mut again = Client::of(command);
    assert_eq!(again.call("get_conversation", json!({})).0["conversations"][0]["messageCount"], 1);
}

#[test]
fn memory_that_is_gone_with_the_process_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let outcome = Outcome::of(utterd(directory.path()).arg("mcp").stdin(Stdio::null()));
    assert_holds(&outcome.stderr, &["kept in memory", "--data-dir DIR keeps them in files"]);
    let mut client = Client::start();
    let told = client.request("initialize", crate::mcp::client::initialize());
    assert!(told["instructions"].as_str().is_some_and(|text| text.contains("everything is lost")), "{told}");
}

#[test]
fn a_token_opens_a_server_that_asks_who_calls() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = token(directory.path(), "agent", "read-only", &[]);
    let server = Server::start_in(directory, &["--credentials", "credentials.toml"]);
    server.file("agent.token", &token);
    let flags = |more: &[&'static str]| [&["--server", &server.address], more].concat();
    let mut without = Client::start_in(server.directory.path(), &flags(&[]));
    let error = without.fail("get_capacity_info", json!({}));
    assert_holds(&error, &["[MISSING_CREDENTIALS]", "Next: ask the user to configure a token"]);
    let mut with = Client::start_in(server.directory.path(), &flags(&["--token-file", "agent.token"]));
    with.call("get_capacity_info", json!({}));
    let error = with.fail("end_conversation", json!({}));
    assert_holds(&error, &["[ROLE_FORBIDS]", "Next: tell the user that this MCP server may only read here."]);
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    let server = Server::start(&[]);
    let mut client = Client::start_in(server.directory.path(), &["--server", &server.address]);
    client.memorize("The train leaves at nine.");
    let address = server.address.clone();
    let _directory = server.kill();
    let error = client.fail("get_capacity_info", json!({}));
    assert_holds(&error, &["Next: try again in a moment.", "see whether the utterd server is running"]);
    let _again = Server::start_at(&address, tempfile::tempdir().expect("a directory"), &[]);
    assert_eq!(client.call("get_capacity_info", json!({})).0["capacity"]["utteranceCount"], 0);
}

#[test]
fn what_cannot_be_is_told_before_the_protocol_begins() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |flags: &[&str]| Outcome::of(utterd(directory.path()).arg("mcp").args(flags));
    assert_holds(&run(&["--server", "127.0.0.1:1"]).failed(4), &["no server answers at http://127.0.0.1:1"]);
    assert_holds(&run(&["--server", "x", "--data-dir", "y"]).failed(2), &["cannot be used with"]);
    assert_holds(&run(&["--http-host", "x"]).failed(2), &["--http <ADDRESS>"]);
    assert_holds(&run(&["--config", "none.toml"]).failed(2), &["none.toml"]);
    assert_holds(
        &run(&["--http", "0.0.0.0:0"]).failed(2),
        &["other machines can reach it, and there is no TLS", "--allow-insecure"],
    );
    assert_holds(
        &run(&["--http", "127.0.0.1:0", "--token-file", "x"]).failed(2),
        &["--token-file and --http do not go together", "authorization: Bearer TOKEN"],
    );
}
