//! `list`, `show`, `restore`, `context`, `prepare` and `health`.

use serde_json::Value;

use super::{Outcome, Server, assert_holds, utterd};

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn conversations_are_listed_for_people_and_for_programs() {
    let server = Server::start(&[]);
    server.run(&["memorize", "--to", "a", "-r", "alice", "Where is my order?"]).worked();
    server.run(&["memorize", "--to", "b", "-r", "bob", "one"]).worked();
    server.run(&["memorize", "--to", "b", "-r", "bob", "two"]).worked();
    server.run(&["end", "a"]).worked();
    let all = server.run(&["list", "--all"]).worked();
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines[0].starts_with("b · bob · active · 20"), "{all}");
    assert!(lines[0].ends_with(" · gets the next message") && lines[1].starts_with("  2 said, "), "{all}");
    assert!(lines[2].starts_with("a · alice · closed · 20") && !lines[2].contains("message"), "{all}");
    assert_eq!(lines[3], "  1 said, 9 tokens in the window · Where is my order");

    let alices = server.run(&["list", "-r", "alice", "--json"]).worked();
    assert_eq!((&json(&alices)["conversationId"], &json(&alices)["active"]), (&"a".into(), &Value::Null));
    assert_eq!(json(&server.run(&["list", "-r", "bob", "--json"]).worked())["active"], true);
    let none = server.run(&["list", "-r", "nobody"]);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "no conversations\n"));

    let first = server.run(&["list", "--all", "--limit", "1"]);
    assert_eq!(first.stderr, "there are more: --limit 0 lists all\n");
    assert_eq!(first.worked().lines().count(), 2);
    assert_eq!(server.run(&["list", "--all", "--limit", "0"]).worked().lines().count(), 4);
}

#[test]
fn what_is_long_is_shown_whole_when_that_is_asked() {
    let server = Server::shared();
    let prompt = format!("You help. {}The end.", "Be brief and kind. ".repeat(200));
    server.run(&["memorize", "--to", "prompted", "--role", "system", &prompt]).worked();
    let shown = server.run(&["show", "prompted"]).worked();
    assert_holds(&shown, &["You help.", "more: --full)"]);
    assert!(!shown.contains("The end."), "{shown}");
    let full = server.run(&["show", "prompted", "--full"]).worked();
    let stored = json(&server.run(&["show", "prompted", "--json"]).worked());
    let id = stored["utterances"][0]["utteranceId"].as_str().expect("an id");
    assert_holds(&full, &["The end.", &format!("id {id}\n")]);
}

#[test]
fn a_conversation_that_ended_is_shown_with_what_came_of_it() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "finished", "Please book the night train to Lisbon."]).worked();
    server.run(&["memorize", "--to", "finished", "--role", "assistant", "It is booked for Friday."]).worked();
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
        server.run(&["memorize", "--to", "regretted", text]).worked();
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
    assert_holds(&run(&["4-2"]).failed(3), &["there is no utterance 4-2"]);
}

fn fed(server: &Server, arguments: &[&str], input: &str) -> Outcome {
    server.file("stdin", input);
    let file = std::fs::File::open(server.directory.path().join("stdin")).expect("just written");
    Outcome::of(server.command(arguments).stdin(file))
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
        &["max_messages: is -1"],
    );
}

/// What `utterd prepare` makes of a file of the examples, without a server.
fn prepared(file: &str, options: &[&str]) -> Outcome {
    let directory = tempfile::tempdir().expect("a directory");
    let file = format!("{}/examples/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(file).expect("the example");
    Outcome::of(utterd(directory.path()).arg("prepare").args(options).stdin(file))
}

#[test]
fn a_history_is_prepared_without_a_server() {
    let summary = ["--budget", "1000", "--summary", "200", "--keep-recent", "2", "--focus", "hotel"];
    let whole = prepared("trip.json", &summary);
    assert_holds(&whole.stderr, &["the summary tells of it"]);
    let messages = whole.worked();
    let alone = prepared("trip.json", &[&summary[..], &["--summary-only"]].concat()).worked();
    assert!(!alone.trim().is_empty());
    let first = serde_json::to_string(alone.lines().next().expect("a line")).expect("JSON");
    assert!(messages.contains(first.trim_matches('"')), "{messages}: {alone}");
    let wrong = prepared("history.json", &["--max-messages", "-1"]).failed(1);
    assert_holds(&wrong, &["max_messages: is -1"]);
    assert_holds(
        &prepared("shop.jsonl", &[]).failed(1),
        &["messages_json: is an object; accepted: an array of messages"],
    );
}

#[test]
fn a_session_of_a_coding_agent_is_prepared() {
    for (file, said) in [
        ("claude-code.jsonl", "Done; the tests pass."),
        ("codex.jsonl", "It passes."),
        ("pi.jsonl", "It reads one file now: 0.2 seconds."),
    ] {
        let messages = json(&prepared(file, &[]).worked());
        let last = messages.as_array().and_then(|messages| messages.last()).expect("messages");
        assert_eq!(last["content"], said);
    }
}

#[test]
fn a_context_has_its_budget_and_its_format() {
    let server = Server::shared();
    for text in ["The train leaves at nine.", "And the next one?", "The one after that, please."] {
        server.run(&["memorize", "--to", "budgeted", text]).worked();
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
