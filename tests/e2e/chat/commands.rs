//! The effects of commands, and that commands and their output are not stored as messages.

use std::fs;

use serde_json::Value;

use crate::{
    chat::{Server, piped, server, stored, terminal::Terminal},
    support::binary::assert_holds,
};

fn messages(server: &Server, file: &str) -> Vec<Value> {
    let bytes = fs::read(server.directory.path().join(file)).expect("the file");
    let json: Value = serde_json::from_slice(&bytes).expect("JSON");
    let messages = json.get("messages").unwrap_or(&json);
    messages.as_array().expect("messages").clone()
}

#[test]
fn a_conversation_is_exported_with_and_without_what_was_compacted() {
    let server = server();
    stored(&server, "kept", 40);
    let lines = ["/compact", "/export", "/export --include-full-history all.json"];
    let exported = piped(&server, &["kept"], &lines).worked();
    assert_holds(
        &exported,
        &[
            "wrote the summary and the messages to kept.json: ",
            "exported 1 conversation, 40 utterances, to all.json: ",
        ],
    );

    let window = messages(&server, "kept.json");
    // the question that the oldest of the 15 answers leads them
    assert_eq!(window.len(), 1 + 1 + 15);
    assert_eq!(window[1]["role"], "user");
    let summary = window[0]["content"].as_str().expect("a text");
    assert!(summary.starts_with("[CONVERSATION HISTORY SUMMARY - 25 messages]"), "{summary}");
    let everything = messages(&server, "all.json");
    assert_eq!(everything.len(), 40);
    assert!(everything[0]["content"].as_str().expect("a text").starts_with("In message 1 "));
    let refused = piped(&server, &["kept"], &["/export"]).failed(2);
    assert_holds(&refused, &["error: kept.json exists: name another file"]);
    assert_eq!(messages(&server, "kept.json"), window);
}

#[test]
fn what_a_terminal_would_obey_is_shown_escaped() {
    let server = server();
    server.run(&["memorize", "--to", "odd", "\u{1b}]52;c;cm0=\u{7}\u{202e}"]).worked();
    let chat = Terminal::open(&server, &["odd"]);
    chat.shows(&["user: \\u001b]52;c;cm0=\\u0007\\u202e"]);
}

#[test]
fn what_was_said_is_found_forgotten_and_restored() {
    let server = server();
    let lines = [
        "The flight to Lisbon leaves at nine.",
        "Buy milk.",
        "/remember when does the flight leave",
        "/forget last:1",
        "/restore",
        "/forget --hard about:Lisbon",
        "/remember flight",
        "/capacity",
        "/summary",
        "\\/shrug",
    ];
    let chat = piped(&server, &["trip"], &lines);
    assert_holds(&chat.stderr, &["nothing found"]);
    assert_holds(
        &chat.worked(),
        &[
            "The flight to Lisbon leaves at nine.\n",
            "forgot 1 utterance (2)",
            "restored 1 utterance (2) of trip\n",
            "forgot 1 utterance (1) for good, understood as about:Lisbon\n",
            "1 utterance ·",
            "there is no summary\n",
        ],
    );
    let shown = server.run(&["show", "trip"]).worked();
    assert!(
        shown.contains("Buy milk.") && shown.contains("/shrug") && !shown.contains("/remember"),
        "{shown}"
    );
    let refused = piped(&server, &["trip"], &["/forget gibberish of:nothing"]).failed(1);
    assert_holds(&refused, &["[INSTRUCTION_NOT_UNDERSTOOD]"]);
    let refused = piped(&server, &["trip"], &["/restore 12"]).failed(3);
    assert_holds(&refused, &["there is no utterance 12"]);
}

#[test]
fn a_new_conversation_is_started_and_the_old_one_ends() {
    let server = Server::start(&[]);
    let chat = piped(&server, &["--recipient", "alice"], &["Hello.", "/new", "Hello again."]);
    assert_holds(&chat.stderr, &["a new conversation", "has ended", "[1 message]", "[0 messages]"]);
    // The server's own preset has limits; a chat's conversation has none.
    let capacity = server.run(&["capacity", "--recipient", "alice"]).worked();
    assert!(capacity.contains("tokens · 1 utterance · 1 turn") && !capacity.contains("of 20"), "{capacity}");
    let listed = server.run(&["list", "--recipient", "alice"]).worked();
    assert_eq!(listed.matches(" · closed · ").count(), 1, "{listed}");
}

#[test]
fn what_is_typed_is_edited_pasted_and_brought_back() {
    let server = server();
    let mut chat = Terminal::open(&server, &["typed"]);
    chat.waits();
    chat.keys("ello wörld\x1b[H漢\x7fH\x1b[F!\x1b[D\x1b[3~?");
    chat.keys("\x1b[200~ first\rsecond\x1b[201~\r");
    chat.shows(&["[1 message]"]);
    chat.waits();
    chat.keys("half a thought");
    chat.shows(&["half a thought"]);
    chat.keys("\x03");
    chat.line("\x1b[A, again");
    chat.shows(&["[2 messages]"]);
    chat.line("/sumary");
    chat.shows(&["similar subcommands exist: 'summarize', 'summary'", "/help lists the commands"]);
    let said: Value = serde_json::from_str(&server.run(&["show", "typed", "--json"]).worked()).expect("JSON");
    let contents = [&said["utterances"][0]["content"], &said["utterances"][1]["content"]];
    let first = "Hello wörld? first\nsecond";
    assert_eq!(contents, [first, &format!("{first}, again")]);
}

#[test]
fn what_was_said_before_is_shown_unless_it_is_forgotten() {
    let server = server();
    piped(&server, &["back"], &["Buy milk.", "The code is 4711.", "/forget last:1"]).worked();
    let chat = Terminal::open(&server, &["back"]);
    let opened = chat.shows(&["user: Buy milk.", "user: (forgotten; /restore 2 brings it back)"]);
    assert!(!opened.contains("4711"), "{opened}");
}
