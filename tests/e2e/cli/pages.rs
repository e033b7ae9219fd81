//! Terminal output: lines that fit, and text that controls nothing.

use std::{io::Read, process::Command};

use serde_json::json;

use super::{Server, assert_holds};
use crate::support::{binary::UTTERD, pty::pty};

/// What a command that works writes to a terminal of `columns` by 20.
fn on_terminal(server: &Server, columns: u16, arguments: &[&str]) -> String {
    let (works, written) = written(server, columns, arguments);
    assert!(works, "{arguments:?}");
    String::from_utf8(written).expect("UTF-8")
}

/// Whether a command works, and what it writes to a terminal.
fn written(server: &Server, columns: u16, arguments: &[&str]) -> (bool, Vec<u8>) {
    let (mut master, slave) = pty(20, columns);
    let stdio = || slave.try_clone().expect("a descriptor is free");
    let mut command = Command::new(UTTERD);
    command.env_clear().envs([
        ("TERM", "xterm"),
        ("PATH", "/usr/bin:/bin"),
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
    let works = child.wait().expect("it ends").success();
    // the terminal puts a carriage return before each line feed
    let lines: Vec<_> = written.split(|byte| *byte == b'\n').collect();
    let lines = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    (works, lines.collect::<Vec<_>>().join(&b'\n'))
}

#[test]
fn lines_fit_the_terminal_and_break_between_words() {
    let server = Server::shared();
    let text = "The train to Lisbon leaves at nine in the evening and arrives at noon, ".repeat(3);
    server.run(&["memorize", "--to", "wide", &format!("{text}\nAnother line.")]).worked();
    let stored = on_terminal(&server, 40, &["memorize", "--to", "wide", "Once more, please."]);
    assert!(stored.lines().count() > 1, "{stored}");
    assert!(stored.lines().all(|line| console::measure_text_width(line) <= 40), "{stored}");
    for columns in [40, 80, 120] {
        let shown = on_terminal(&server, columns, &["show", "wide"]);
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
fn a_list_fits_a_terminal_of_seventy_columns() {
    let server = Server::start(&[]);
    server.run(&["memorize", "--to", "a-long-name", "-r", "alice", "hello"]).worked();
    server.run(&["memorize", "--to", "b", "-r", "bob", "hello"]).worked();
    let title = "A long title. ".repeat(9);
    let renamed = format!(r#"{{"conversationId": "b", "title": "{title}", "updateMask": "title"}}"#);
    server.run(&["call", "UpdateConversation", &renamed]).worked();
    server.run(&["end", "a-long-name"]).worked();
    let listed = on_terminal(&server, 70, &["list", "--all"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("b · bob · active · 20"), "{listed}");
    assert!(lines[0].ends_with(" · gets the next message") && !lines[2].contains("message"), "{listed}");
    assert!(lines[1].starts_with("  1 said, 5 tokens in the window · A long title. A"), "{listed}");
    assert!(lines[2].starts_with("a-long-name · alice · closed · 20"), "{listed}");
    assert!(lines[3].starts_with("  1 said, 5 tokens in the window"), "{listed}");
    assert!(lines.iter().all(|line| console::measure_text_width(line) <= 70), "{listed}");
}

/// What a terminal obeys, or what hides or turns around the text next to it, a line each.
const HOSTILE: &str = "\
    bell \u{7}\n\
    overprint abc\u{8}\u{8}\u{8}\n\
    return a\rb\n\
    shifts \u{b}\u{c}\u{e}\u{f}\n\
    CSI \u{1b}[31m \u{1b}[1m \u{1b}[2J\n\
    OSC \u{1b}]52;c;cm0=\u{7} \u{1b}]8;;http://x\u{1b}\\x \u{1b}]0;x\u{7}\n\
    DCS, APC, RIS \u{1b}P1q\u{1b}\\ \u{1b}_x\u{1b}\\ \u{1b}c\n\
    DEL \u{7f}\n\
    C1 \u{80}\u{84}\u{85}\u{90}\u{98}\u{9b}2J\u{9c}\u{9d}0;x\u{9c}\u{9e}\u{9f}\n\
    bidi \u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}\n\
    separators \u{2028}\u{2029}\n\
    BOM \u{feff}\n\
    tags \u{e0001}\u{e0041}\u{e007f}\n\
    replacement \u{fffd}\n\
    end";

/// Fails if a terminal would do anything with this but draw it.
#[track_caller]
fn assert_drawn(written: &[u8], of: &[&str]) {
    let text = str::from_utf8(written).unwrap_or_else(|error| panic!("{of:?}: {error}"));
    let hidden = |it: &char| {
        ('\u{200e}'..='\u{200f}').contains(it)
            || ('\u{2028}'..='\u{202e}').contains(it)
            || ('\u{2066}'..='\u{2069}').contains(it)
            || ('\u{e0000}'..='\u{e0fff}').contains(it)
            || matches!(it, '\u{61c}' | '\u{feff}')
    };
    let obeyed = |it: &char| !matches!(it, '\n' | '\t') && (it.is_control() || hidden(it));
    assert_eq!(text.chars().find(obeyed), None, "{of:?}: {text:?}");
}

#[test]
fn what_is_stored_is_only_drawn_by_a_terminal_and_exact_in_a_pipe() {
    let server = Server::start(&["--preset", "session"]);
    let arguments = json!({ "x": HOSTILE }).to_string();
    let call = json!({ "id": "c1", "name": "look\u{202e}up", "argumentsJson": arguments });
    let utterances = json!([
        { "role": "ROLE_USER", "content": HOSTILE },
        { "role": "ROLE_ASSISTANT", "content": HOSTILE, "toolCalls": [call] },
        { "role": "ROLE_TOOL", "content": HOSTILE, "toolCallId": "c1" },
    ]);
    let stored = json!({ "conversationId": "odd", "utterances": utterances }).to_string();
    server.run(&["call", "Memorize", &stored]).worked();
    server.file("strange.json", &json!([{ "role": "user", "content": HOSTILE }]).to_string());
    for arguments in [
        &["show", "odd"][..],
        &["show", "odd", "--full"],
        &["show", "odd", "--json"],
        &["list"],
        &["list", "--json"],
        &["capacity", "odd"],
        &["remember", "odd", "overprint"],
        &["remember", "odd", "overprint", "--json"],
        &["context", "odd", "--format", "text"],
        &["context", "odd", "--format", "openai"],
        &["context", "odd", "--format", "anthropic"],
        &["prepare", "strange.json"],
        &["summarize", "odd"],
        &["forget", "odd", "all", "--dry-run"],
        &["export", "odd"],
        &["export", "odd", "--format", "persisted"],
        &["import", "strange.json", "--dry-run"],
        &["import", "strange.json"],
        &["call", "ListUtterances", r#"{"conversationId": "odd"}"#],
        &["call", "GetConversation", r#"{"conversationId": "odd"}"#],
        &["end", "odd"],
    ] {
        let (works, written) = written(&server, 80, arguments);
        assert!(works, "{arguments:?}: {}", String::from_utf8_lossy(&written));
        assert_drawn(&written, arguments);
    }
    let context = server.run(&["context", "odd", "--format", "text"]).worked();
    assert!(context.contains(HOSTILE), "{context:?}");
}

#[test]
fn what_is_passed_is_only_drawn_by_a_terminal() {
    let server = Server::shared();
    for arguments in [
        &["show", HOSTILE][..],
        &["memorize", "--to", HOSTILE, "hello"],
        &["memorize", "hello", HOSTILE],
        &["forget", "odd", HOSTILE],
        &["delete", HOSTILE],
        &["import", HOSTILE],
        &["prepare", HOSTILE],
        &["show", "--server", HOSTILE],
        &["show", "--token-file", HOSTILE],
        &["call", HOSTILE],
        &["call", "GetConversation", HOSTILE],
        &["verify", HOSTILE],
        &["config", "--config", HOSTILE],
        &["serve", "--listen", HOSTILE],
        &["serve", "--log-format", HOSTILE],
        &[HOSTILE],
        &["show", "--json", HOSTILE],
    ] {
        let (works, written) = written(&server, 80, arguments);
        assert!(!works, "{arguments:?}");
        assert_drawn(&written, arguments);
    }
}
