//! The seed's long conversation: the question, its answers, and how the screen shows compactions.

use crate::chat::{server, stored, terminal::Terminal};

const QUESTION: &str = "into a summary, as /compact does?";
/// In the status while nothing is in progress.
const IDLE: &str = "  /help";

#[test]
fn a_long_conversation_is_compacted_when_the_user_says_yes_and_goes_on() {
    let server = server();
    stored(&server, "long", 49);
    let mut chat = Terminal::open(&server, &["long"]);
    chat.shows(&["[49 messages]", "no model replies: your messages are stored", "long", "In message 49"]);
    for number in 50..=51 {
        server.run(&["memorize", "long", "--role", "assistant", &format!("message {number}")]).worked();
    }
    chat.line("Is this the last message?");
    chat.shows(&[
        "[52 messages]",
        "assistant  message 51",
        "📦 The conversation has 52 messages, ",
        QUESTION,
        "[Y] Yes, keep the last 15  [N] Not now  [V] Never in this session",
    ]);
    chat.line("y");
    chat.shows(&["[Summary + 15 messages]", "compacted 37 utterances (1–37) into a summary of"]);
    let screen = chat.shows(&[IDLE]);
    assert!(!screen.contains(QUESTION), "{screen}");
    chat.line("No, this one is.");
    chat.shows(&["[Summary + 16 messages]"]);

    chat.line("/compact --undo");
    chat.shows(&["[53 messages]", "undid compaction 1: 37 utterances (1–37) are back in the window"]);
    chat.line("/compact --dry-run 20");
    chat.shows(&["[53 messages]", "would compact 33 utterances (1–33) into a summary of"]);
    chat.line("/summarize 20");
    chat.shows(&["[Summary + 20 messages]", "· compacted 33 utterances"]);
    let listed = server.run(&["compact", "--list", "long"]).worked();
    let rows: Vec<_> = listed.lines().collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert!(rows[0].contains("asked") && rows[0].contains("33 utterances"), "{listed}");
    assert!(rows[1].contains("advised") && rows[1].contains("undone"), "{listed}");
}

#[test]
fn never_is_for_this_session_and_compact_works_all_the_same() {
    let server = server();
    stored(&server, "quiet", 58);
    let mut chat = Terminal::open(&server, &["quiet"]);
    chat.shows(&["[58 messages]"]);
    chat.line("one");
    chat.shows(&["The conversation has 59 messages", QUESTION]);
    chat.line("V");
    let screen = chat.shows(&["you will not be asked again in this session", IDLE]);
    assert!(!screen.contains(QUESTION), "{screen}");
    chat.line("two");
    chat.shows(&["[60 messages]"]);
    chat.line("three");
    let screen = chat.shows(&["[61 messages]"]);
    assert!(!screen.contains(QUESTION), "{screen}");

    let mut other = Terminal::open(&server, &["quiet"]);
    other.shows(&["[61 messages]"]);
    other.line("four");
    other.shows(&["[62 messages]", QUESTION]);
    other.keys("\x1b");
    other.loses(QUESTION);
    other.shows(&[IDLE]);
    other.line("five");
    let screen = other.shows(&["[63 messages]"]);
    assert!(!screen.contains(QUESTION), "{screen}");

    chat.line("/compress");
    chat.shows(&["[Summary + 15 messages]"]);
}

#[test]
fn the_question_leaves_what_is_typed_alone() {
    let server = server();
    stored(&server, "typing", 49);
    let mut chat = Terminal::open(&server, &["typing"]);
    chat.shows(&["[49 messages]"]);
    chat.line("one more");
    chat.shows(&[QUESTION]);
    chat.keys("yes, you never know");
    chat.shows(&["> yes, you never know", QUESTION]);
    chat.keys("\r");
    let screen = chat.shows(&["user       yes, you never know", "[51 messages]", IDLE]);
    assert!(!screen.contains(QUESTION), "{screen}");
}

#[test]
fn a_short_conversation_is_not_compacted() {
    let server = server();
    stored(&server, "short", 29);
    let mut chat = Terminal::open(&server, &["short"]);
    chat.shows(&["[29 messages]"]);
    chat.line("/compact");
    chat.shows(&["! ", "[TOO_SHORT_TO_COMPACT]", "[29 messages]"]);
}
