//! How it ends: requests in flight are answered, and stdout carries only the protocol.

use std::{collections::BTreeSet, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    mcp::client::Client,
    support::binary::{Outcome, utterd},
};

#[test]
fn what_is_in_flight_is_answered_when_stdin_closes() {
    let mut client = Client::start();
    let messages = json!([{ "role": "user", "content": "The train leaves at nine." }]);
    let asked: BTreeSet<u64> = (0..40)
        .map(|_| {
            client.ask("tools/call", json!({ "name": "memorize", "arguments": { "messages": messages } }))
        })
        .collect();
    client.close();
    let (answers, status) = client.rest();
    let answered: BTreeSet<u64> = answers.iter().filter_map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(answered, asked);
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "{answers:?}");
    assert!(status.success());
}

#[test]
fn it_ends_when_it_is_asked_to() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut client = Client::start();
        client.memorize("The train leaves at nine.");
        kill_process(Pid::from_child(&client.process.0), signal).expect("it runs");
        let (answers, status) = client.rest();
        assert!(answers.is_empty() && status.success(), "{answers:?} {status}");
    }
}

#[test]
fn a_client_that_goes_away_at_once_is_no_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let outcome = Outcome::of(utterd(directory.path()).arg("mcp").stdin(Stdio::null()));
    assert_eq!((outcome.code, &*outcome.stdout), (Some(0), ""), "{}", outcome.stderr);
}

/// Log output of any level goes to stderr, and contains nothing of what was said.
#[test]
fn stdout_is_the_protocols_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    let log = std::fs::File::create(directory.path().join("log")).expect("a file");
    command.arg("mcp").stderr(log);
    let mut client = Client::silent_with_log(command, "trace");
    client.request("initialize", crate::mcp::client::initialize());
    client.memorize("My number is zebrafish.");
    client.write_text("this is no message, zebrafish");
    client.fail("forget", json!({ "zebrafish": true }));
    client.close();
    let (answers, status) = client.rest();
    assert!(status.success(), "{answers:?}");
    let log = std::fs::read_to_string(directory.path().join("log")).expect("a log");
    assert!(log.contains("kept in memory") && !log.contains("zebrafish"), "{log}");
}
