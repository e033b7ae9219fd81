//! Python's grpcio, with reflection, health and rich status: `checks.py` next to this file.

use std::process::{Command, Stdio};

use crate::clients::{Checked, Client, server::Server};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/checks.py");

/// The client and its checks, each a function of the script.
pub const CLIENT: Client = Client {
    name: "python",
    probe: &["python3", "-c", "import grpc, grpc_reflection, grpc_health, grpc_status"],
    install: "pip install grpcio grpcio-reflection grpcio-health-checking grpcio-status",
    optional: false,
    checks: &[
        ("memorize_by_reflection", |server| check(server, "memorize_by_reflection")),
        ("health", |server| check(server, "health")),
        ("rich_status", |server| check(server, "rich_status")),
        ("gzip_channel", |server| check(server, "gzip_channel")),
        ("deadline", |server| check(server, "deadline")),
        ("memorize_stream", |server| check(server, "memorize_stream")),
        ("watch_events", |server| check(server, "watch_events")),
        ("too_large", |server| check(server, "too_large")),
        ("guarded", |_| guarded()),
        ("unix_socket", |_| check(&Server::on_a_socket(), "unix_socket")),
    ],
};

fn check(server: &Server, name: &str) -> Checked {
    run(SCRIPT, server, name)
}

/// Against its own server, which requires credentials.
fn guarded() -> Checked {
    let (server, token) = Server::guarded();
    run_with(SCRIPT, &server, "guarded", &[("UTTERD_TOKEN", &token)])
}

/// Runs a check of a script.
pub fn run(script: &str, server: &Server, name: &str) -> Checked {
    run_with(script, server, name, &[])
}

fn run_with(script: &str, server: &Server, name: &str, variables: &[(&str, &str)]) -> Checked {
    let mut command = Command::new("python3");
    command.args([script, &server.address, name]).stdin(Stdio::null()).envs(variables.iter().copied());
    let output = command.output().expect("python3 runs");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
