//! What a server logs to stderr.

use std::{
    io::Read,
    process::{ChildStderr, Stdio},
};

use serde_json::Value;

use crate::support::binary::{Process, UTTERD, line_with, utterd};

/// Starts a server, has `calls` made to it, stops it, and returns what it logged.
fn logged(flags: &[&str], calls: &[&[&str]]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut command = utterd(directory.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--announce", "json"]).args(flags);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut stderr: ChildStderr = child.stderr.take().unwrap();
    let mut server = Process(child);
    let announced: Value = serde_json::from_str(&line_with(&mut stdout, "address")).unwrap();
    for call in calls {
        let mut command = utterd(directory.path());
        let output =
            command.args(*call).env("UTTERD_SERVER", announced["address"].as_str().unwrap()).output();
        assert!(output.unwrap().status.success(), "{UTTERD} {call:?}");
    }
    let process = rustix::process::Pid::from_child(&server.0);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let mut log = String::new();
    stderr.read_to_string(&mut log).unwrap();
    assert!(server.0.wait().unwrap().success(), "{log}");
    log
}

const CALL: &[&str] = &["memorize", "a secret"];

#[test]
fn a_start_and_a_stop_are_logged_and_calls_are_not() {
    let log = logged(&[], &[CALL]);
    for part in ["serving on 127.0.0.1:", "with the memory store", "asked to stop", "stopped"] {
        assert!(log.contains(part), "{part:?} is not in:\n{log}");
    }
    assert!(!log.contains("Memorize"), "{log}");
}

#[test]
fn calls_are_logged_if_asked_for() {
    let log = logged(&["--log-calls", "true"], &[CALL, &["capacity"]]);
    let calls: Vec<&str> = log.lines().filter(|line| line.contains("utterd::calls")).collect();
    assert_eq!(calls.len(), 2, "{log}");
    assert!(calls[0].contains("utterd.v1.MemoryService/Memorize"), "{log}");
    assert!(calls[0].contains(r#"code="OK""#), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

/// Everything takes longer than a nanosecond.
#[test]
fn slow_calls_are_logged_in_any_case() {
    let log = logged(&["--slow-call", "1ns", "--log", "warn"], &[CALL]);
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains("a slow call") && log.contains("Memorize"), "{log}");
}

#[test]
fn a_log_in_json_is_one_object_a_line() {
    let log = logged(&["--log-format", "json", "--log-calls", "true"], &[CALL]);
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let call = lines.iter().find(|line| line["target"] == "utterd::calls").expect("the call is logged");
    assert_eq!((&call["rpc"], &call["code"]), (&"utterd.v1.MemoryService/Memorize".into(), &"OK".into()));
    assert!(call["ms"].is_number() && call["id"].is_string() && call["timestamp"].is_string(), "{call}");
    assert!(lines.iter().any(|line| line["message"] == "stopped"), "{log}");
}

/// The details of other crates can hold what was said: whoever asks for them is told that there are none.
#[test]
fn the_details_of_other_crates_are_not_logged() {
    let log = logged(&["--log", "debug,h2=trace,hyper=trace"], &[CALL]);
    assert!(log.contains("log asks for h2=trace") && log.contains("log asks for hyper=trace"), "{log}");
    assert!(!log.contains("h2::") && !log.contains("secret"), "{log}");
}
