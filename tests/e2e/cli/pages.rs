//! Terminal output: lines that fit, and a pager for long output.

use std::{io::Read, process::Command};

use super::{Server, assert_holds};
use crate::support::{binary::UTTERD, pty::pty};

/// What a command writes to a terminal of `columns` by 20.
fn on_terminal(server: &Server, columns: u16, pager: &str, arguments: &[&str]) -> String {
    let (mut master, slave) = pty(20, columns);
    let stdio = || slave.try_clone().expect("a descriptor is free");
    let mut command = Command::new(UTTERD);
    command.env_clear().envs([
        ("TERM", "xterm"),
        ("NO_COLOR", "1"),
        ("PATH", "/usr/bin:/bin"),
        ("PAGER", pager),
        ("UTTERD_SERVER", &server.address),
    ]);
    command.args(arguments).current_dir(server.directory.path());
    command.stdin(stdio()).stdout(stdio()).stderr(stdio());
    let mut child = command.spawn().expect("it starts");
    // The last copies of the terminal's end are the child's.
    drop((command, slave));
    let mut written = Vec::new();
    let mut chunk = [0; 4096];
    // Reading from a terminal whose program has ended fails.
    while let Ok(read @ 1..) = master.read(&mut chunk) {
        written.extend_from_slice(&chunk[..read]);
    }
    assert!(child.wait().expect("it ends").success());
    String::from_utf8_lossy(&written).replace("\r\n", "\n")
}

#[test]
fn lines_fit_the_terminal_and_break_between_words() {
    let server = Server::shared();
    let text = "The train to Lisbon leaves at nine in the evening and arrives at noon, ".repeat(3);
    server.run(&["memorize", "--to", "wide", &format!("{text}\nAnother line.")]).worked();
    let stored = on_terminal(&server, 40, "cat", &["memorize", "--to", "wide", "Once more, please."]);
    assert!(stored.lines().count() > 1, "{stored}");
    assert!(stored.lines().all(|line| console::measure_text_width(line) <= 40), "{stored}");
    for columns in [40, 80, 120] {
        let shown = on_terminal(&server, columns, "cat", &["show", "wide"]);
        let widest = shown.lines().map(console::measure_text_width).max().unwrap_or(0);
        assert!(widest <= columns.into(), "{shown}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(
            shown.split_whitespace().collect::<Vec<_>>().windows(words.len()).any(|seen| seen == words),
            "{shown}"
        );
        assert_holds(&shown, &["Another line."]);
    }
}

#[test]
fn what_is_longer_than_the_terminal_is_paged() {
    let server = Server::shared();
    for number in 0..19 {
        server.run(&["memorize", "--to", "tall", &format!("remark {number}")]).worked();
    }
    server.run(&["memorize", "--to", "low", "hello"]).worked();
    let paged = |pager, conversation| on_terminal(&server, 80, pager, &["show", conversation]);
    assert_holds(&paged("sed s/^/paged:/", "tall"), &["paged:tall · ", "remark 18"]);
    assert!(!paged("sed s/^/paged:/", "low").contains("paged:"));
    for direct in ["", "cat", "no-such-pager-2>/dev/null"] {
        assert_holds(&paged(direct, "tall"), &["tall · ", "remark 18"]);
    }
}

#[test]
fn a_list_fits_a_terminal_of_seventy_columns() {
    let server = Server::start(&[]);
    server.run(&["memorize", "--to", "a-long-name", "-r", "alice", "hello"]).worked();
    server.run(&["memorize", "--to", "b", "-r", "bob", "hello"]).worked();
    let title = "A long title. ".repeat(9);
    let renamed = format!(r#"{{"conversationId": "b", "title": "{title}", "updateMask": "title"}}"#);
    server.run(&["call", "UpdateConversation", &renamed]).worked();
    server.run(&["end", "a-long-name"]).worked();
    let listed = on_terminal(&server, 70, "cat", &["list", "--all", "--order", "oldest"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("a-long-name · alice · closed · 20"), "{listed}");
    assert!(lines[1].starts_with("  1 said, 5 tokens in the window"), "{listed}");
    assert!(lines[2].starts_with("b · bob · active · 20"), "{listed}");
    assert!(lines[2].ends_with(" · gets the next message") && !lines[0].contains("message"), "{listed}");
    assert!(lines[3].starts_with("  1 said, 5 tokens in the window · A long title. A"), "{listed}");
    assert!(lines.iter().all(|line| console::measure_text_width(line) <= 70), "{listed}");
}
