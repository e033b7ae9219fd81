//! `utterd import --follow`.

use std::{
    fs::{self, OpenOptions},
    io::{BufReader, Write},
    path::Path,
    process::{ChildStderr, Stdio},
};

use super::{Process, Server, line_with};

/// A line of a session of pi.
fn line(id: &str, before: &str, role: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{before},\"timestamp\":\"2026-01-01T10:00:00Z\",\"message\":\
         {{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

fn header(id: &str) -> String {
    let time = "2026-01-01T10:00:00Z";
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"{time}\",\"cwd\":\"/shop\"}}\n"
    )
}

fn append(file: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("it opens");
    file.write_all(text.as_bytes()).expect("it is written");
}

fn follow(server: &Server) -> (Process, BufReader<ChildStderr>) {
    let mut command = server.command(&["import", "--follow", "sessions"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
    (Process(child), stderr)
}

fn stored(server: &Server, id: &str) -> String {
    server.run(&["show", id]).worked()
}

#[test]
fn what_is_appended_is_found_and_each_message_is_there_once() {
    let server = Server::start(&[]);
    let project = server.directory.path().join("sessions/--shop--");
    fs::create_dir_all(&project).expect("it is made");
    let file = project.join("one.jsonl");
    append(&file, &(header("one") + &line("a", "null", "user", "Where are the invoices?")));
    append(&project.join("other.txt"), "no session\n");

    let (following, mut told) = follow(&server);
    line_with(&mut told, "one.jsonl: 1 utterance");
    append(&file, &line("b", "\"a\"", "assistant", "The invoices lie in the attic."));
    line_with(&mut told, "one.jsonl: 1 utterance");
    let found = server.run(&["remember", "attic"]).worked();
    assert!(found.contains("one 2  assistant"), "{found}");

    // a line that is torn waits for its end
    let next = line("c", "\"b\"", "user", "And the receipts?");
    append(&file, &next[..50]);
    append(&project.join("two.jsonl"), &(header("two") + &line("x", "null", "user", "Another session.")));
    line_with(&mut told, "two.jsonl: 1 utterance");
    assert!(!stored(&server, "one").contains("receipts"));
    append(&file, &next[50..]);
    line_with(&mut told, "one.jsonl: 1 utterance");

    // killed, moved, and gone on
    drop(following);
    let moved = project.join("moved.jsonl");
    fs::rename(&file, &moved).expect("it is moved");
    append(&moved, &line("d", "\"c\"", "assistant", "In the cellar."));
    let (_following, mut told) = follow(&server);
    line_with(&mut told, "moved.jsonl: 1 utterance");
    let deep = project.join("new/deep");
    fs::create_dir_all(&deep).expect("it is made");
    append(&deep.join("three.jsonl"), &(header("three") + &line("y", "null", "user", "A third session.")));
    line_with(&mut told, "three.jsonl: 1 utterance");
    let shown = stored(&server, "one");
    for text in ["Where are the invoices?", "lie in the attic.", "And the receipts?", "In the cellar."] {
        assert_eq!(shown.matches(text).count(), 1, "{text}: {shown}");
    }
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let server = Server::shared();
    let error = server.run(&["import", "--follow", "nowhere"]).failed(1);
    assert!(error.contains("nowhere"), "{error}");
}
