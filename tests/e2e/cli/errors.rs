//! Errors, as the command words them, and the exit codes.

use std::{
    fs,
    io::Write,
    net::TcpListener,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{Outcome, Server, assert_holds, utterd};

#[test]
fn a_refusal_names_the_field() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "worded", "hello"]).worked();
    for (arguments, expected) in [
        (&["compact", "--keep", "0"][..], "error: keep_recent: is 0; accepted: 1 or more"),
        (&["context", "--budget", "1"], "error: token_budget: is 1; accepted: "),
        (&["summarize", "--recent", "0"], "error: recent_count: is 0; accepted: 1 or more"),
    ] {
        let error = server.run(&[arguments, &["worded"]].concat()).failed(1);
        assert_holds(&error, &[expected]);
    }
}

#[test]
fn an_instruction_is_refused_without_the_grammar() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "terse", "hello"]).worked();
    let error = server.run(&["forget", "terse", "last:0"]).failed(1);
    assert_holds(
        &error,
        &["error: instructions: \"last:0\": a count must be at least 1 [", "`utterd forget --help`"],
    );
    assert!(error.split_whitespace().count() < 20, "{error}");
}

/// The hosts tell which database is meant; the rest of its address is not shown.
#[test]
fn a_database_that_is_away_is_named_by_its_hosts() {
    let (one, other) = (free_address(), free_address());
    let url = format!("postgres://ann:s3cret@{one},{other}/talk");
    let directory = tempfile::tempdir().expect("a directory");
    for command in ["serve", "migrate"] {
        let arguments = [command, "--backend", "postgres", "--database-url", &url];
        let error = Outcome::of(utterd(directory.path()).args(arguments)).failed(1);
        assert_holds(&error, &[&format!("the database at {one},{other}: "), "refused"]);
        assert!(!error.contains("ann") && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "coded", "hello"]).worked();
    let run = |arguments: &[&str]| server.run(arguments);
    assert_holds(&run(&["memorize", "--to", "coded", "--role", "tool", "x"]).failed(1), &["error: "]);
    assert_holds(&run(&["memorize", "--bogus"]).failed(2), &["--bogus"]);
    let missing = run(&["show", "nowhere"]).failed(3);
    assert_holds(
        &missing,
        &["there is no conversation \"nowhere\" [CONVERSATION_NOT_FOUND]\n", "`utterd list --all`"],
    );
    assert_holds(&run(&["restore", "coded", "9"]).failed(3), &["no utterance 9", "`utterd show`"]);
    let nobody = run(&["show", "--server", &free_address()]).failed(4);
    assert_holds(&nobody, &["no server answers at ", "`utterd serve`"]);
    let help = run(&["--help"]).worked();
    assert!(!help.contains("--buffer-size"), "the settings stand in the help of serve: {help}");
    assert_holds(&run(&["serve", "--help"]).worked(), &["--buffer-size"]);
    assert_holds(&help, &["1 refused or failed", "2 wrong command line", "3 not found", "4 no server"]);
}

/// The address of a port that was just free.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.expect("a free port").to_string()
}

#[test]
fn errors_are_json_where_answers_are() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "jsoned", "hello"]).worked();
    let json = |arguments: &[&str], code| -> Value {
        let error = server.run(&[arguments, &["--json"]].concat()).failed(code);
        assert_eq!(error.lines().count(), 1, "{error}");
        serde_json::from_str::<Value>(&error).expect("JSON")["error"].clone()
    };
    let refused = json(&["compact", "jsoned", "--keep", "0"], 1);
    assert_eq!((&refused["exit_code"], &refused["reason"]), (&1.into(), &"INVALID_FIELD".into()));
    let field = &refused["fields"][0];
    assert_eq!(field["field"], "keep_recent");
    let missing = json(&["show", "nowhere"], 3);
    assert_eq!(missing["reason"], "CONVERSATION_NOT_FOUND");
    assert_eq!(json(&["show", "--bogus"], 2)["exit_code"], 2);
    assert_eq!(json(&["show", "--server", &free_address()], 4)["exit_code"], 4);
}

#[test]
fn a_file_is_named_with_what_is_wrong_with_it() {
    let server = Server::shared();
    server.run(&["memorize", "--to", "filed", "hello"]).worked();
    for (arguments, code, file) in [
        (&["export", "filed", "-o", "none/out.json"][..], 1, "none/out.json"),
        (&["backup", "none/out.utterd"], 1, "none/out.utterd"),
        (&["prepare", "none.json"], 1, "none.json: No such file"),
        (&["show", "--token-file", "none.token"], 2, "--token-file none.token: No such file"),
        (
            &["show", "--server", "https://127.0.0.1:1", "--tls-ca", "none.pem"],
            2,
            "--tls-ca none.pem: No such",
        ),
    ] {
        assert_holds(&server.run(arguments).failed(code), &[file]);
    }
}

#[test]
fn what_has_no_end_is_not_read_for_ever() {
    let server = Server::shared();
    let endless = |arguments: &[&str]| {
        let mut command = server.command(arguments);
        Outcome::of(command.stdin(fs::File::open("/dev/zero").expect("there is one")))
    };
    for arguments in [&["memorize"][..], &["memorize", "-"]] {
        let expected = "error: stdin: is larger than 16.00 MiB, the limit";
        assert_holds(&endless(arguments).failed(1), &[expected]);
    }
    assert_holds(&endless(&["prepare"]).failed(1), &["error: stdin: is larger than 32.00 MiB"]);
    assert_holds(
        &endless(&["config", "--config", "/dev/zero"]).failed(2),
        &["/dev/zero: cannot be read: it is larger than 4194304 bytes"],
    );
    assert_holds(
        &endless(&["serve", "--listen", "127.0.0.1:0", "--log", "off", "--migrate", "/dev/zero"]).failed(1),
        &["/dev/zero", "it is larger than 16777216 bytes"],
    );
    for file in ["-", "/dev/zero"] {
        let outcome = endless(&["import", file]);
        let name = if file == "-" { "stdin" } else { file };
        assert_holds(
            &outcome.stderr,
            &[&format!("failed: {name}: is larger than 16.00 MiB"), "1 file failed"],
        );
        assert_eq!(outcome.code, Some(1));
    }
    assert_holds(
        &endless(&["show", "--token-file", "/dev/zero"]).failed(2),
        &["/dev/zero: it is larger than "],
    );
}

#[test]
fn an_address_that_no_command_can_talk_to_is_refused() {
    let server = Server::shared();
    let run = |address: &str| server.run(&["health", "--server", address]);
    assert_holds(
        &run("ftp://127.0.0.1").failed(2),
        &["--server \"ftp://127.0.0.1\": must be HOST, HOST:PORT"],
    );
    let secure = format!("https://{}", server.address);
    assert_holds(&run(&secure).failed(4), &[&secure, "TLS with ", "--tls-ca", "http://"]);
}

#[test]
fn progress_is_for_terminals() {
    let server = Server::start(&[]);
    let line = |n: usize| {
        format!(
            "{{\"id\":\"p{n}\",\"messages\":[{{\"role\":\"user\",\"content\":\"{n} {}\"}}]}}\n",
            "x".repeat(9_000)
        )
    };
    server.file("many.jsonl", &(0..300).map(line).collect::<String>());
    let outcome = server.run(&["import", "many.jsonl"]);
    assert_eq!(outcome.stderr, "");
    assert_holds(&outcome.worked(), &["imported 300 conversations (300 new): 300 utterances"]);
    let exported = server.run(&["export", "--all", "-o", "all.jsonl"]);
    assert_eq!((exported.code, exported.stderr.contains("MiB")), (Some(0), false), "{}", exported.stderr);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure_of_any_command() {
    let server = Server::shared();
    let long = "and so on ".repeat(20_000);
    server.file("piped.json", &format!("[{{\"role\":\"user\",\"content\":\"{long}\"}}]"));
    server.run(&["import", "piped.json"]).worked();
    for arguments in [
        &["export", "piped"][..],
        &["context", "piped", "--format", "text"],
        &["show", "piped", "--json"],
        &["completions", "bash"],
        &["config"],
        &["--help"],
    ] {
        let mut command = server.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !told.contains("pipe"), "{arguments:?}: {told}");
    }
}

#[test]
fn what_is_interrupted_says_what_was_stored() {
    let server = Server::start(&[]);
    let mut child = piped(&mut server.command(&["memorize", "-"]));
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // More than a pipe holds: once it is written, stdin is being read.
    stdin.write_all(&[b'x'; 1 << 20]).expect("stdin is read");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_holds(&String::from_utf8_lossy(&output.stderr), &["error: interrupted: nothing was stored"]);

    let line = |n: usize| {
        format!(
            "{{\"id\":\"i{n}\",\"messages\":[{{\"role\":\"user\",\"content\":\"{n} {}\"}}]}}\n",
            "x".repeat(9_000)
        )
    };
    let lines: String = (0..300).map(line).collect();
    let mut child = piped(&mut server.command(&["import", "--json", "-"]));
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(lines.as_bytes()).expect("stdin is read");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("stdout is piped"));
    super::line_with(&mut stdout, "conversations");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_holds(&told, &["\"error\"", "interrupted: ", "repeat the command to continue from there"]);
    assert_holds(&told, &["imported ", " conversations ("]);
    drop(stdin);
    server.file("again.jsonl", &lines);
    assert_holds(&server.run(&["import", "again.jsonl"]).worked(), &[" already there"]);
}

/// A server that accepts the connection and never answers.
#[test]
fn an_interrupted_backup_leaves_no_file() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = utterd(directory.path());
    let child = piped(command.args(["backup", "--server", &address, "all.utterd"]));
    let (_connection, _) = silent.accept().expect("it connects");
    assert!(directory.path().join("all.utterd.part").exists());
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_holds(&String::from_utf8_lossy(&output.stderr), &["error: interrupted: nothing was written"]);
    assert_eq!(fs::read_dir(directory.path()).expect("the directory").count(), 0);
}

fn piped(command: &mut Command) -> std::process::Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn interrupt(child: &std::process::Child) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
}

#[test]
fn a_command_line_of_its_own_needs_no_server() {
    let directory = tempfile::tempdir().expect("a directory");
    for (shell, holds) in
        [("bash", "complete -F"), ("zsh", "#compdef utterd"), ("fish", "complete -c utterd")]
    {
        let script = Outcome::of(utterd(directory.path()).args(["completions", shell])).worked();
        assert_holds(&script, &[holds, "memorize", "restore"]);
    }
}
