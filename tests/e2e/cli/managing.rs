//! `create`, `rename`, `delete` and `state`, and options in any order.

use serde_json::Value;

use super::{Outcome, Server, assert_holds};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_conversation_is_created_renamed_and_deleted() {
    let server = Server::shared();
    let created = server.run(&["create", "planned", "-r", "planner", "--title", "A plan"]).worked();
    assert_eq!(created, "created planned, the active conversation of planner\n");
    let second = server.run(&["create", "spare", "-r", "planner", "--preset", "session"]).worked();
    assert_eq!(second, "created spare for planner\n");
    assert_holds(&server.run(&["policy", "show", "spare"]).worked(), &["max-tokens      none\n"]);
    let taken = server.run(&["create", "planned"]).failed(1);
    assert_holds(&taken, &["[CONVERSATION_EXISTS]", "choose another id"]);

    server.run(&["memorize", "-r", "planner", "Four nights."]).worked();
    let renamed = server.run(&["rename", "planned", "A better plan"]).worked();
    assert_eq!(renamed, "planned is now called \"A better plan\"\n");
    assert_holds(&server.run(&["show", "-r", "planner"]).worked(), &["A better plan\n", "Four nights."]);
    assert_eq!(server.run(&["rename", "-r", "planner", ""]).worked(), "planned has no title\n");
    assert_holds(&server.run(&["rename"]).failed(2), &["TITLE is missing"]);

    assert_holds(&server.run(&["delete", "planned"]).failed(2), &["--yes"]);
    assert_holds(&server.run(&["delete", "--yes"]).failed(2), &["<CONVERSATION>"]);
    let deleted = server.run(&["delete", "planned", "--yes"]).worked();
    assert_eq!(deleted, "removed planned with 1 utterance\n");
    server.run(&["show", "planned"]).failed(3);
    server.run(&["delete", "planned", "--yes"]).failed(3);
}

#[test]
fn state_is_set_shown_and_deleted() {
    let server = Server::shared();
    server.run(&["create", "stately", "-r", "keeper"]).worked();
    let set = server.run(&["state", "set", "stately", "plan", "{\"nights\": 4}"]).worked();
    assert_holds(&set, &["set plan of stately: version "]);
    server.file("plan.json", "[1, 2]\n");
    let file = std::fs::File::open(server.directory.path().join("plan.json")).expect("just written");
    let mut piped = server.command(&["state", "set", "-r", "keeper", "list"]);
    Outcome::of(piped.stdin(file)).worked();
    let shown = server.run(&["state", "show", "stately"]).worked();
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].starts_with("list  version ") && lines[0].ends_with("  [1, 2]"), "{shown}");
    assert!(lines[1].starts_with("plan  version ") && lines[1].ends_with("  {\"nights\": 4}"), "{shown}");
    assert_holds(
        &server.run(&["state", "delete", "stately", "plan"]).worked(),
        &["deleted plan of stately: "],
    );
    let left = json(&server.run(&["state", "show", "stately", "--json"]).worked());
    assert_eq!(left["values"].as_array().map(Vec::len), Some(1));

    let of_recipient = ["--of-recipient", "-r", "keeper"];
    let state = |words: &[&str]| server.run(&[&["state"], words, &of_recipient].concat());
    assert_holds(
        &state(&["set", "diet", "\"vegan\""]).worked(),
        &["set diet of the recipient keeper: version "],
    );
    assert_holds(&state(&["show"]).worked(), &["diet  version ", "  \"vegan\""]);
    assert_holds(&state(&["set", "diet", "vegan"]).failed(1), &["JSON"]);
    assert_holds(&server.run(&["state", "set"]).failed(2), &["NAME is missing"]);
    let none = server.run(&["state", "show", "--of-recipient", "-r", "nobody"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "no values are stored\n"));
}

#[test]
fn options_may_stand_before_the_command() {
    let server = Server::shared();
    server.run(&["memorize", "early", "hello"]).worked();
    let elsewhere = ["--server", &server.address];
    let mut command = super::utterd(server.directory.path());
    let shown = Outcome::of(command.args([&elsewhere[..], &["--json", "show", "early"]].concat())).worked();
    assert_eq!(json(&shown)["utterances"][0]["content"], "hello");
    let missing = server.run(&["--json", "show", "nowhere"]).failed(3);
    assert_eq!(json(&missing)["error"]["exit_code"], 3);
    assert_holds(&server.run(&["--limit", "1", "search", "early", "hello"]).worked(), &["early 1  user"]);
    assert_holds(&server.run(&["--bogus", "show"]).failed(2), &["--bogus"]);
}
