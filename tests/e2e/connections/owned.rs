//! A server that a program starts and owns: what it announces, and how it ends with the program.

use std::{
    io::{BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::binary::{Outcome, Process, UTTERD, assert_holds, line_with, utterd};

/// The options of a server that a program owns.
const OWNED: [&str; 4] = ["--announce", "json", "--exit-with-parent", "--log=warn"];

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn spawned(mut command: Command) -> (Process, BufReader<ChildStdout>) {
    let mut child: Child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    (Process(child), stdout)
}

/// A server's announcement, which is one line of JSON.
fn announced(stdout: &mut BufReader<ChildStdout>) -> Value {
    let line = line_with(stdout, "");
    serde_json::from_str(&line).expect("the first line is JSON")
}

/// The rest of stdout, until all processes that hold it have ended.
fn rest(mut stdout: BufReader<ChildStdout>) -> String {
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("stdout is text");
    rest
}

fn says_hello(directory: &Path, address: &Value) {
    let address = address.as_str().expect("an address");
    Outcome::of(utterd(directory).args(["memorize", "hello", "--server", address])).worked();
}

#[test]
fn one_line_of_json_tells_where_a_client_connects_and_stdout_holds_nothing_else() {
    for (listen, begin) in [("127.0.0.1:0", "127.0.0.1:"), ("unix:socket", "unix:/")] {
        let directory = directory();
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", listen, "--announce", "json", "--log", "error"]);
        let (server, mut stdout) = spawned(command);
        let told = announced(&mut stdout);
        let address = told["address"].as_str().expect("an address");
        assert!(address.starts_with(begin) && !address.ends_with(":0"), "{address}");
        assert_eq!(told["pid"], server.0.id());
        assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(told.as_object().map(|told| told.len()), Some(3));
        says_hello(directory.path(), &told["address"]);
        drop(server);
        assert_eq!(rest(stdout), "");
    }
}

#[test]
fn a_server_ends_cleanly_when_its_stdin_is_closed() {
    let directory = directory();
    let mut command = utterd(directory.path());
    command.args(["--listen", "unix:socket"]).args(OWNED).stdin(Stdio::piped());
    let (mut server, mut stdout) = spawned(command);
    let told = announced(&mut stdout);
    says_hello(directory.path(), &told["address"]);
    drop(server.0.stdin.take());
    assert!(server.0.wait().expect("it ran").success());
    assert!(!directory.path().join("socket").exists(), "the socket is removed at a clean end");
}

/// The parent is a shell. It makes a pipe, starts the server at the reading end, keeps the writing end open,
/// and waits.
#[test]
fn a_server_ends_cleanly_when_its_parent_is_killed() {
    let directory = directory();
    let serve = format!("{UTTERD} --listen unix:socket {}", OWNED.join(" "));
    let script = format!("mkfifo owner; {serve} < owner & exec 9> owner; read -r line");
    let mut command = utterd(directory.path());
    let settings: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    command = Command::new("sh");
    settings.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.args(["-c", &script]).current_dir(directory.path()).stdin(Stdio::piped());
    let (mut parent, mut stdout) = spawned(command);
    let told = announced(&mut stdout);
    assert_ne!(told["pid"], parent.0.id());
    says_hello(directory.path(), &told["address"]);

    parent.0.kill().expect("the parent runs");
    parent.0.wait().expect("it ran");
    // The server was the last process that held stdout.
    assert_eq!(rest(stdout), "");
    assert!(!directory.path().join("socket").exists(), "the socket is removed at a clean end");
}

#[test]
fn a_stdin_that_nobody_can_hold_open_is_no_parent() {
    let directory = directory();
    let mut command = utterd(directory.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--exit-with-parent"]).stdin(Stdio::null());
    assert_holds(&Outcome::of(&mut command).failed(2), &["--exit-with-parent", "stdin is not a pipe"]);
}

#[test]
fn without_the_option_the_end_of_stdin_ends_no_server() {
    let directory = directory();
    let mut command = utterd(directory.path());
    command.args(["--listen", "unix:socket", "--announce", "json"]).stdin(Stdio::piped());
    let (mut server, mut stdout) = spawned(command);
    let told = announced(&mut stdout);
    drop(server.0.stdin.take());
    says_hello(directory.path(), &told["address"]);
}
