//! The export of motorhead's sessions from a real Redis: `packaging/motorhead/export.py`.

use std::{
    os::unix::net::UnixStream,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::{Outcome, Process, Server as Utterd},
};

/// The programs and the check.
pub const CLIENT: Client = Client {
    name: "redis",
    probe: &["sh", "-c", "redis-server --version && redis-cli --version && python3 -c 'import redis'"],
    install: "apt-get install redis-server, and pip install redis",
    optional: true,
    checks: &[("motorheads_sessions_are_imported", motorheads_sessions_are_imported)],
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/motorhead/export.py");

/// A Redis on a Unix socket, in its own directory.
fn redis(directory: &Path) -> Process {
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--unixsocket", "redis.sock", "--save", "", "--dir", "."]);
    let command = command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    let redis = Process(command.spawn().expect("Redis starts"));
    while UnixStream::connect(directory.join("redis.sock")).is_err() {
        std::thread::yield_now();
    }
    redis
}

fn motorheads_sessions_are_imported(_: &Server) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    let _redis = redis(directory.path());
    // What motorhead stores.
    for command in [
        &["LPUSH", "ana", "Human: Where is it: in Peru?", "AI: In Zipaquirá.", "Critic: short"][..],
        &["SET", "ana_context", "Ana plans a trip."],
        &["SET", "ana_tokens", "744"],
        &["LPUSH", "ben", "Human: hi"],
        &["HSET", "motorhead:x", "session", "ana", "content", "Where is it"],
    ] {
        let mut cli = Command::new("redis-cli");
        Outcome::of(cli.args(["-s", "redis.sock"]).args(command).current_dir(directory.path())).worked();
    }
    let url = format!("unix://{}", directory.path().join("redis.sock").display());
    let exported = Outcome::of(Command::new("python3").args([SCRIPT, &url])).worked();
    let server = Utterd::start(&[]);
    server.file("sessions.jsonl", &exported);
    let told = server.run(&["import", "sessions.jsonl"]).worked();
    assert!(told.starts_with("imported 2 conversations (2 new): 5 utterances"), "{told}");
    let shown = server.run(&["export", "ana"]).worked();
    for part in [
        "What was said before, in short: Ana plans a trip.",
        "Where is it: in Peru?",
        "In Zipaquirá.",
        "short",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    Ok(())
}
