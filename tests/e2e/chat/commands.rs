//! The effects of commands, and that commands and their output are not stored as messages.

use std::fs;

use serde_json::Value;

use crate::chat::{Server, server, stored, terminal::Terminal};

fn messages(chat: &Terminal, file: &str) -> Vec<Value> {
    let json: Value = serde_json::from_slice(&fs::read(chat.file(file)).expect("the file")).expect("JSON");
    let messages = json.get("messages").unwrap_or(&json);
    messages.as_array().expect("messages").clone()
}

#[test]
fn a_conversation_is_exported_with_and_without_what_was_compacted() {
    let server = server();
    stored(&server, "kept", 40);
    let mut chat = Terminal::open(&server, &["kept"]);
    chat.shows(&["[40 messages]"]);
    chat.line("/compact");
    chat.shows(&["[Summary + 15 messages]"]);
    chat.line("/export");
    chat.shows(&["wrote the summary and the messages to kept.json: "]);
    chat.line("/export --include-full-history kept.json");
    chat.shows(&["wrote all messages to kept-2.json: "]);

    let window = messages(&chat, "kept.json");
    // the question that the oldest of the 15 answers leads them
    assert_eq!(window.len(), 1 + 1 + 15);
    assert_eq!(window[1]["role"], "user");
    let summary = window[0]["content"].as_str().expect("a text");
    assert!(summary.starts_with("[CONVERSATION HISTORY SUMMARY - 25 messages]"), "{summary}");
    let everything = messages(&chat, "kept-2.json");
    assert_eq!(everything.len(), 40);
    assert!(everything[0]["content"].as_str().expect("a text").starts_with("In message 1 "));
    chat.line("/export nowhere/kept.json");
    chat.shows(&["! nowhere/kept.json: No such file or directory"]);
}

#[test]
fn what_was_forgotten_leaves_the_screen_and_comes_back() {
    let server = server();
    let mut chat = Terminal::open(&server, &["back"]);
    chat.shows(&["[0 messages]"]);
    chat.line("The code is 4711.");
    chat.shows(&["[1 message]"]);
    chat.line("/remember code");
    chat.shows(&["· 1 user: The code is 4711."]);
    chat.line("/forget last:1");
    let screen = chat.shows(&["forgot 1 utterance (1)", "user       (forgotten; /restore 1 brings it back)"]);
    assert!(!screen.contains("4711"), "{screen}");
    chat.keys("\x1b[A\x1b[A\x1b[A");
    chat.shows(&["> /remember code"]);
    chat.keys("\x15");
    chat.line("/restore");
    chat.shows(&["user       The code is 4711.", "· restored 1 utterance (1)"]);
    chat.line("/restore 1");
    chat.shows(&["! none of these messages can be restored"]);
    drop(chat);
    server.run(&["forget", "back", "last:1"]).worked();
    let mut later = Terminal::open(&server, &["back"]);
    later.shows(&["(forgotten; /restore 1 brings it back)"]);
    later.line("/restore 1");
    later.shows(&["user       The code is 4711."]);
}

#[test]
fn what_was_said_is_found_and_forgotten() {
    let server = server();
    let mut chat = Terminal::open(&server, &[]);
    chat.shows(&["a new conversation", "[0 messages]"]);
    chat.line("The flight to Lisbon leaves at nine.");
    chat.shows(&["[1 message]"]);
    chat.line("Buy milk.");
    chat.shows(&["[2 messages]"]);
    chat.line("/remember when does the flight leave");
    chat.shows(&["· 1 user: The flight to Lisbon leaves at nine."]);
    chat.line("/forget --hard about:Lisbon");
    chat.shows(&["forgot 1 utterance (1) for good, understood as about:Lisbon", "[1 message]"]);
    chat.line("/remember flight");
    chat.shows(&["· nothing found"]);
    chat.line("/forget gibberish of:nothing");
    chat.shows(&["! ", "[INSTRUCTION_NOT_UNDERSTOOD]"]);
    chat.line("/capacity");
    chat.shows(&["active · revision", "1 utterance ·", "archive: 0 utterances"]);
    chat.line("/summary");
    chat.shows(&["there is no summary"]);
    chat.line("/sumary");
    chat.shows(&["! there is no command /sumary; the nearest is /summary.", "> /sumary"]);
    let shown = server.run(&["show"]).worked();
    assert!(shown.contains("Buy milk.") && !shown.contains("/remember"), "{shown}");
}

#[test]
fn a_new_conversation_is_started_and_the_old_one_ends() {
    let server = Server::start(&[]);
    let mut chat = Terminal::open(&server, &["--recipient", "alice"]);
    chat.shows(&["[0 messages]"]);
    chat.line("Hello.");
    chat.shows(&["[1 message]"]);
    chat.line("/new");
    chat.shows(&["has ended; this is a new conversation", "[0 messages]"]);
    chat.line("Hello again.");
    chat.shows(&["[1 message]"]);
    // The server's own preset has limits; a chat's conversation has none.
    let capacity = server.run(&["capacity", "--recipient", "alice"]).worked();
    assert!(capacity.contains("tokens · 1 utterance · 1 turn") && !capacity.contains("of 20"), "{capacity}");
}

#[test]
fn what_is_typed_is_edited_and_pasted() {
    let server = server();
    let mut chat = Terminal::open(&server, &["typed"]);
    chat.shows(&["[0 messages]"]);
    chat.keys("ello wörld\x1b[H漢\x7fH\x1b[F!\x1b[D\x1b[3~?");
    chat.shows(&["> Hello wörld?"]);
    chat.keys("\x1b[200~ first\rsecond\x1b[201~");
    chat.shows(&["> Hello wörld? first", "  second"]);
    chat.keys("\r");
    chat.shows(&["[1 message]"]);
    let json: Value = serde_json::from_str(&server.run(&["show", "typed", "--json"]).worked()).expect("JSON");
    assert_eq!(json["utterances"][0]["content"], "Hello wörld? first\nsecond");
    chat.keys("\x1b[A");
    chat.shows(&["> Hello wörld? first", "  second"]);
    chat.keys("\x03");
    chat.shows(&["put aside; Up brings it back"]);
    chat.keys("/exp\t");
    chat.shows(&["> /export ", "/export --include-full-history [FILE]"]);
    chat.keys("\x15");
    chat.loses("/export");
    chat.spoil();
    chat.keys("\x0c");
    chat.shows(&["user       Hello wörld? first", "[1 message]"]);
    drop(chat);
    let mut later = Terminal::open(&server, &["typed"]);
    later.shows(&["[1 message]"]);
    later.keys("\x1b[A");
    later.shows(&["> Hello wörld? first", "  second"]);
}

#[test]
fn characters_of_several_code_points_leave_nothing_behind() {
    let server = server();
    let mut chat = Terminal::open(&server, &["emoji"]);
    chat.shows(&["[0 messages]"]);
    chat.keys("👩‍🚀🇩🇪👍🏽\r");
    chat.shows(&["[1 message]"]);
    chat.line("more");
    let screen = chat.shows(&["[2 messages]", "🇩🇪👍", "user       more"]);
    assert!(!screen.contains('🏽'), "{screen}");
}

#[test]
fn the_transcript_is_scrolled_and_fits_every_size() {
    let server = server();
    stored(&server, "scrolled", 49);
    let mut chat = Terminal::open(&server, &["scrolled"]);
    chat.shows(&["In message 49 "]);
    chat.keys("\x1b[5~\x1b[5~");
    chat.loses("In message 49 ");
    chat.keys("\x1b[6~\x1b[6~");
    chat.shows(&["In message 49 "]);
    chat.resize(120, 40);
    chat.shows(&["In message 49 ", "In message 40 ", "[49 messages]"]);
    chat.resize(30, 8);
    chat.shows(&["[49 messages]"]);
}
