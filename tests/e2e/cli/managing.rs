//! `delete`, and options in any order.

use serde_json::Value;

use super::{Outcome, Server, assert_holds};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_conversation_is_deleted_when_that_is_meant() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "planned", "Four nights."]).worked();
    assert_holds(&server.run(&["delete", "planned"]).failed(2), &["--yes"]);
    assert_holds(&server.run(&["delete", "--yes"]).failed(2), &["<CONVERSATION>"]);
    let deleted = server.run(&["delete", "planned", "--yes"]).worked();
    assert_eq!(deleted, "removed planned with 1 utterance\n");
    server.run(&["show", "planned"]).failed(3);
    server.run(&["delete", "planned", "--yes"]).failed(3);
}

#[test]
fn options_may_stand_before_the_command() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "early", "hello"]).worked();
    let elsewhere = ["--server", &server.address];
    let mut command = super::utterd(server.directory.path());
    let shown = Outcome::of(command.args([&elsewhere[..], &["--json", "show", "early"]].concat())).worked();
    assert_eq!(json(&shown)["utterances"][0]["content"], "hello");
    let missing = server.run(&["--json", "show", "nowhere"]).failed(3);
    assert_eq!(json(&missing)["error"]["exit_code"], 3);
    assert_holds(&server.run(&["--limit", "1", "search", "early", "hello"]).worked(), &["early 1  user"]);
    assert_holds(&server.run(&["--bogus", "show"]).failed(2), &["--bogus"]);
}
