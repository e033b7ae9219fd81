//! `list`, `show`, `restore`, `pin`, `edit`, `policy`, `count`, `prepare` and `health`.

use std::{io::Write, process::Stdio};

use serde_json::Value;

use super::{Outcome, Server, assert_holds};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn conversations_are_listed_for_people_and_for_pipes() {
    let server = Server::start(&[]);
    server.run(&["memorize", "a", "-r", "alice", "Where is my order?"]).worked();
    server.run(&["memorize", "b", "-r", "bob", "one"]).worked();
    server.run(&["memorize", "b", "-r", "bob", "two"]).worked();
    server.run(&["end", "a"]).worked();
    let all = server.run(&["list", "--all", "--order", "oldest"]).worked();
    let rows: Vec<Vec<&str>> = all.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][..5], ["a", "alice", "closed", "1 said", "9 tokens in the window"]);
    assert_eq!(rows[1][..4], ["b", "bob", "active", "2 said"]);
    assert_eq!(rows[0][6], "Where is my order");
    assert!(rows[1][5].ends_with('Z'), "{all}");

    let alices = server.run(&["list", "-r", "alice", "--json"]).worked();
    assert_eq!(json(&alices)["conversationId"], "a");
    let idle = server.run(&["list", "--all", "--status", "closed"]).worked();
    assert_eq!(idle.lines().count(), 1, "{idle}");
    assert!(server.run(&["list", "--all", "--prefix", "b"]).worked().starts_with("b\t"));
    let none = server.run(&["list", "-r", "nobody"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "no conversations\n"));

    let first = server.run(&["list", "--all", "--limit", "1"]);
    let (_, token) = first.stderr.split_once("--after ").expect("there are more");
    let token = token.split(' ').next().expect("a token");
    let second = server.run(&["list", "--all", "--limit", "1", "--after", token]).worked();
    let pages = format!("{}{second}", first.worked());
    assert_eq!(pages, server.run(&["list", "--all", "--limit", "0"]).worked());
}

#[test]
fn what_is_long_is_shown_whole_when_that_is_asked() {
    let server = Server::shared();
    let prompt = format!("You help. {}The end.", "Be brief and kind. ".repeat(200));
    server.run(&["memorize", "prompted", "--role", "system", &prompt]).worked();
    let shown = server.run(&["show", "prompted"]).worked();
    assert_holds(&shown, &["You help.", "more: --full)"]);
    assert!(!shown.contains("The end."), "{shown}");
    assert_holds(&server.run(&["show", "prompted", "--full"]).worked(), &["The end."]);
}

#[test]
fn a_conversation_that_ended_is_shown_with_what_came_of_it() {
    let server = Server::shared();
    server.run(&["memorize", "finished", "Please book the night train to Lisbon."]).worked();
    server.run(&["memorize", "finished", "--role", "assistant", "It is booked for Friday."]).worked();
    server.run(&["end", "finished"]).worked();
    let shown = server.run(&["show", "finished"]).worked();
    let title = shown.lines().nth(1).expect("a title");
    assert_holds(title, &["night train"]);
    assert_holds(&shown, &["\nclosing summary\n", "Friday"]);
    let shown = json(&server.run(&["show", "finished", "--json"]).worked());
    assert_eq!(shown["conversation"]["title"], title);
}

#[test]
fn what_was_forgotten_comes_back() {
    let server = Server::shared();
    for text in ["one", "two", "three", "four"] {
        server.run(&["memorize", "regretted", text]).worked();
    }
    server.run(&["forget", "regretted", "sequence:1-3"]).worked();
    let run = |arguments: &[&str]| server.run(&[&["restore", "regretted"], arguments].concat());
    assert_eq!(run(&["2"]).worked(), "restored 1 utterance (2) of regretted\n");
    assert_eq!(run(&["--all"]).worked(), "restored 2 utterances (1, 3) of regretted\n");
    let none = run(&["1-2,3,4"]);
    assert_holds(&none.stderr, &["nothing to restore in regretted"]);
    assert_eq!(none.worked(), "");
    server.run(&["forget", "regretted", "newest"]).worked();
    let restored = json(&run(&["4", "--json"]).worked());
    assert_eq!(restored["restored"][0]["sequence"], "4");
    assert_holds(&run(&["9"]).failed(3), &["there is no utterance 9"]);
    assert_holds(&run(&["4-2"]).failed(2), &["UTTERANCES must be a number"]);
}

#[test]
fn pins_and_edits_are_seen() {
    let server = Server::shared();
    for text in ["one", "two", "three"] {
        server.run(&["memorize", "changed", text]).worked();
    }
    let run = |words: &[&str]| server.run(&[&words[..1], &["changed"], &words[1..]].concat());
    assert_eq!(run(&["pin", "1-2"]).worked(), "pinned 1, 2 of changed\n");
    assert_holds(&run(&["show"]).worked(), &["1* ", "2* ", "3  "]);
    assert_eq!(run(&["unpin", "2"]).worked(), "unpinned 2 of changed\n");
    assert_eq!(json(&run(&["pin", "2", "--json"]).worked())["utterance"]["pinned"], true);

    assert_holds(&run(&["edit", "3", "thirty"]).worked(), &["edited 3 of changed: "]);
    assert_holds(&run(&["show"]).worked(), &["3~ ", "thirty"]);
    let mut piped = server.command(&["edit", "changed", "3", "-"]);
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    child.stdin.take().expect("stdin is piped").write_all(b"thirty-one\n").expect("stdin is read");
    assert!(child.wait().expect("it ends").success());
    assert_holds(&run(&["show"]).worked(), &["thirty-one"]);
    let forked = run(&["edit", "2", "zwei", "--fork"]).worked();
    assert_holds(&forked, &["edited 2 of ", ", a fork of changed: "]);
    assert_holds(&run(&["show"]).worked(), &["two"]);
    assert_holds(&run(&["edit", "1-2", "x"]).failed(2), &["UTTERANCE: only one at a time"]);
}

#[test]
fn limits_are_shown_as_they_are_set() {
    let server = Server::shared();
    server.run(&["memorize", "limited", "hello"]).worked();
    let run = |arguments: &[&str]| server.run(&[arguments, &["limited"]].concat());
    assert_holds(
        &run(&["policy", "show"]).worked(),
        &["max-utterances  20\n", "max-tokens      8000\n", "max-turns       none\n"],
    );
    let set =
        run(&["policy", "set", "--max-utterances", "none", "--max-turns", "5", "--expire-after", "30d"]);
    let expected =
        ["max-utterances  none\n", "max-turns       5\n", "keep-turns      4\n", "expire-after    30days\n"];
    assert_holds(&set.worked(), &expected);
    assert_holds(&run(&["policy", "show"]).worked(), &expected);
    assert_eq!(json(&run(&["policy", "show", "--json"]).worked())["maxTurns"], 5);
    assert_holds(&run(&["policy", "set"]).failed(2), &["no limit is named", "policy set --help"]);
    assert_holds(&run(&["policy", "set", "--max-tokens", "0"]).failed(2), &["a number from 1, or none"]);
}

fn fed(server: &Server, arguments: &[&str], input: &str) -> Outcome {
    server.file("stdin", input);
    let file = std::fs::File::open(server.directory.path().join("stdin")).expect("just written");
    Outcome::of(server.command(arguments).stdin(file))
}

#[test]
fn tokens_are_counted_of_arguments_and_of_stdin() {
    let server = Server::start(&[]);
    assert_eq!(server.run(&["count", "The train leaves at nine.", "one"]).worked(), "6\n1\n");
    assert_eq!(fed(&server, &["count"], "The train leaves at nine.\n").worked(), "6\n");
    let counted = json(&server.run(&["count", "one", "--model", "gpt-4", "--json"]).worked());
    assert_eq!(counted["encoding"], "cl100k_base");
    assert_holds(&server.run(&["count", "x", "--model", "none"]).failed(1), &["--model "]);
}

const HISTORY: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"},
{"role":"tool","tool_call_id":"ghost","content":"boo"}]"#;

#[test]
fn a_history_is_prepared_and_what_is_left_out_is_told() {
    let server = Server::start(&[]);
    let prepared = fed(&server, &["prepare", "--prompt", "And now?"], HISTORY);
    assert_holds(&prepared.stderr, &["3 messages, ", "left out [2]: answers the call \"ghost\""]);
    let messages = json(&prepared.worked());
    assert_eq!((&messages[0]["content"], &messages[2]["content"]), (&"hi".into(), &"And now?".into()));
    let system = r#"[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]"#;
    let anthropic = json(&fed(&server, &["prepare", "--format", "anthropic"], system).worked());
    assert_eq!(
        (&anthropic["system"], &anthropic["messages"][0]["role"]),
        (&"Be brief.".into(), &"user".into())
    );
    let whole = json(&fed(&server, &["prepare", "--json"], HISTORY).worked());
    assert_eq!(whole["dropped"][0]["index"], 2);
    assert_holds(
        &fed(&server, &["prepare", "--max-messages", "-1"], "[]").failed(1),
        &["--max-messages is -1"],
    );
}

#[test]
fn a_context_has_its_budget_and_its_format() {
    let server = Server::shared();
    for text in ["The train leaves at nine.", "And the next one?", "The one after that, please."] {
        server.run(&["memorize", "budgeted", text]).worked();
    }
    let text = server.run(&["context", "budgeted", "--format", "text", "--budget", "60"]);
    assert_holds(&text.stderr, &[" tokens of 60"]);
    assert!(text.worked().ends_with("The one after that, please.\n"));
    let whole = json(&server.run(&["context", "budgeted", "--json"]).worked());
    assert_eq!(whole["utterances"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_server_tells_whether_it_serves() {
    let server = Server::shared();
    assert_eq!(server.run(&["health"]).worked(), "serving\n");
    assert_eq!(json(&server.run(&["health", "--json"]).worked())["status"], "SERVING");
}
