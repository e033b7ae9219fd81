//! `utterd compact`.

use serde_json::Value;

use super::{Server, assert_holds};

/// A server without limits, and 40 messages in the conversation `long`.
fn long() -> Server {
    let server = Server::start(&["--preset", "session"]);
    let line = |number: usize| {
        format!(
            "{{\"role\":\"user\",\"content\":\"Build {number} failed in src/part_{number}.rs with E{number:04}. \
             Thanks for all the help so far, it is very much appreciated by everyone here.\"}}\n"
        )
    };
    server.file("long.jsonl", &(1..=40).map(line).collect::<String>());
    server.run(&["import", "long.jsonl"]).worked();
    server
}

#[test]
fn a_compaction_is_shown_made_listed_and_taken_back() {
    let server = long();
    let before = server.run(&["show", "long"]).worked();
    let preview = server.run(&["compact", "long", "--dry-run", "--focus", "E0007"]).worked();
    assert_holds(
        &preview,
        &[
            "Would compact 25 messages into summary (1–25): ",
            " % less; 15 stay\n\n 1  user  Build 1 failed in src/part_1.rs",
            "\n25  user  Build 25 failed",
            "\n\nsummary:\n",
            "E0007",
        ],
    );
    assert!(!preview.contains("26  user"), "{preview}");
    assert_eq!(server.run(&["show", "long"]).worked(), before);

    let compacted = server.run(&["compact", "long"]).worked();
    assert_holds(&compacted, &["Compacted 25 messages into summary (1–25): ", " % less; 15 stay\n"]);
    assert_holds(
        &server.run(&["show", "long"]).worked(),
        &["15 utterances", "summary of 25 earlier utterances"],
    );
    let undone = server.run(&["compact", "long", "--undo"]).worked();
    assert_holds(
        &undone,
        &["undid compaction 1: 25 utterances (1–25) are back in the window, which holds 40: "],
    );

    let compacted = server.run(&["compress", "long", "--keep", "30"]).worked();
    assert_holds(&compacted, &["Compacted 10 messages into summary (1–10): ", "; 30 stay\n"]);
    let listed = server.run(&["call", "ListCompactions", r#"{"conversationId": "long"}"#]).worked();
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["compactions"][0]["compactedUtteranceCount"], 10);
    assert_eq!(listed["compactions"][1]["compactedUtteranceCount"], 25);
    assert!(listed["compactions"][1]["undoTime"].is_string(), "{listed}");
    assert_holds(
        &server.run(&["summarize-history", "long", "--undo"]).worked(),
        &["undid compaction 2: 10 "],
    );
}

/// A server without any setting, whose windows hold 20.
#[test]
fn a_rolling_window_is_folded_and_then_nothing_is_left() {
    let server = Server::start(&[]);
    let line = |number: usize| {
        format!(
            "{{\"role\":\"user\",\"content\":\"Parcel {number} goes to Lyon by rail, says order X{number:04}.\"}}\n"
        )
    };
    server.file("long.jsonl", &(1..=60).map(line).collect::<String>());
    server.run(&["import", "long.jsonl"]).worked();
    let compacted = server.run(&["compact", "long"]).worked();
    assert_holds(&compacted, &["Compacted ", "; 15 stay\n"]);
    let again = server.run(&["compact", "long"]).worked();
    assert_holds(
        &again,
        &["nothing is left to compact: 15 utterances stay; ", " for 45 utterances before them\n"],
    );
}

#[test]
fn what_cannot_be_compacted_is_told() {
    let server = long();
    server.run(&["memorize", "--to", "short", "hello"]).worked();
    let error = server.run(&["compact", "short"]).failed(1);
    assert_holds(
        &error,
        &["error: Conversation too short to compact (< 30 messages)", "[TOO_SHORT_TO_COMPACT]"],
    );
    let error = server.run(&["compact", "short", "--undo"]).failed(1);
    assert_holds(&error, &["[NOTHING_TO_UNDO]"]);
    let error = server.run(&["compact", "long", "--keep", "0"]).failed(1);
    assert_holds(&error, &["keep_recent: is 0"]);
    for wrong in [["compact", "--undo", "--keep=3"], ["compact", "--undo", "--dry-run"]] {
        server.run(&wrong).failed(2);
    }
}
