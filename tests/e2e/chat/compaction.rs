//! The seed's long conversation: the question, its answers, and how the status shows compactions.

use serde_json::Value;

use crate::{
    chat::{piped, server, stored, terminal::Terminal},
    support::binary::assert_holds,
};

const QUESTION: &str = "preserving the most recent context?";

#[test]
fn a_long_conversation_is_compacted_when_the_user_says_yes_and_goes_on() {
    let server = server();
    stored(&server, "long", 49);
    let mut chat = Terminal::open(&server, &["long"]);
    let opened = ["29 earlier messages: ", "assistant: In message 49", "no model replies", "[49 messages]"];
    let opening = chat.shows(&opened);
    assert!(!opening.contains("In message 29 "), "{opening}");
    chat.waits();
    for number in 50..=51 {
        server
            .run(&["memorize", "--to", "long", "--role", "assistant", &format!("message {number}")])
            .worked();
    }
    chat.line("Is this the last message?");
    chat.shows(&[
        "📦 Conversation History Compaction",
        "Your conversation has 52 messages",
        QUESTION,
        "[Y] Yes, compact now (keep last 15)",
        "[N] Not now",
        "[V] Never ask again this session",
        "[52 messages]",
        "Y, N or V> ",
    ]);
    chat.line("y");
    chat.shows(&["Compacted 37 messages into summary (1–37)", "[Summary + 15 messages]"]);
    chat.line("No, this one is.");
    let screen = chat.shows(&["[Summary + 16 messages]"]);
    assert!(!screen.contains(QUESTION), "{screen}");

    chat.line("/compact --undo");
    chat.shows(&["undid compaction 1: 37 utterances (1–37) are back in the window", "[53 messages]"]);
    chat.line("/compact --dry-run 20");
    chat.shows(&["Would compact 33 messages into summary (1–33)"]);
    chat.line("/summarize 20");
    chat.shows(&["Compacted 33 messages", "[Summary + 20 messages]"]);
    let listed = server.run(&["call", "ListCompactions", r#"{"conversationId": "long"}"#]).worked();
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let [last, first] = [0, 1].map(|at| &listed["compactions"][at]);
    assert_eq!(
        (&last["cause"], &last["compactedUtteranceCount"]),
        (&"COMPACTION_CAUSE_ASKED".into(), &33.into())
    );
    assert_eq!(first["cause"], "COMPACTION_CAUSE_ADVISED");
    assert!(first["undoTime"].is_string(), "{listed}");
}

#[test]
fn never_is_for_this_session_and_compact_works_all_the_same() {
    let server = server();
    stored(&server, "quiet", 58);
    let mut chat = Terminal::open(&server, &["quiet"]);
    chat.line("one");
    chat.shows(&["Your conversation has 59 messages", QUESTION]);
    chat.line("V");
    chat.shows(&["you will not be asked again in this session"]);
    for (number, text) in [(60, "two"), (61, "three")] {
        chat.line(text);
        let screen = chat.shows(&[&format!("[{number} messages]")]);
        assert!(!screen.contains(QUESTION), "{screen}");
    }

    let mut other = Terminal::open(&server, &["quiet"]);
    other.line("four");
    other.shows(&["[62 messages]", QUESTION]);
    other.line("n");
    other.line("five");
    let screen = other.shows(&["[63 messages]"]);
    assert!(!screen.contains(QUESTION), "{screen}");

    chat.line("/compress");
    chat.shows(&["[Summary + 15 messages]"]);
}

#[test]
fn a_command_that_compacts_answers_the_question_and_others_leave_it_open() {
    let server = server();
    stored(&server, "asked", 49);
    let mut chat = Terminal::open(&server, &["asked"]);
    chat.line("one more");
    chat.shows(&[QUESTION]);
    chat.line("/summary");
    chat.shows(&["there is no summary", "Y, N or V> "]);
    chat.line("/compact");
    chat.shows(&["[Summary + 15 messages]"]);
    let screen = chat.waits();
    assert!(!screen.trim_end_matches('\r').ends_with("Y, N or V> "), "{screen}");
}

#[test]
fn what_is_no_answer_to_the_question_is_said() {
    let server = server();
    stored(&server, "typing", 49);
    let said = piped(&server, &["typing"], &["one more", "yes, you never know", "y"]);
    assert_holds(&said.stderr, &[QUESTION, "[52 messages]"]);
    assert_eq!(said.stderr.matches(QUESTION).count(), 1, "{}", said.stderr);
    assert_holds(&server.run(&["show", "typing"]).worked(), &["yes, you never know"]);
}

#[test]
fn a_short_conversation_is_not_compacted() {
    let server = server();
    stored(&server, "short", 29);
    let refused = piped(&server, &["short"], &["/compact", "never said"]).failed(1);
    assert_holds(&refused, &["[TOO_SHORT_TO_COMPACT]"]);
    assert!(!server.run(&["show", "short"]).worked().contains("never said"));
}
