//! `grpcurl`, the client that docs/api.md shows.

use std::process::{Command, Output, Stdio};

use crate::clients::{Checked, Client, server::Server, session};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "grpcurl",
    probe: &["grpcurl", "--version"],
    install: "go install github.com/fullstorydev/grpcurl/cmd/grpcurl@latest",
    optional: true,
    checks: &[
        ("the_documented_session", the_documented_session),
        ("errors_have_readable_details", errors_have_readable_details),
        ("services_are_listed", services_are_listed),
    ],
};

fn run(server: &Server, before: &[&str], after: &[&str]) -> Output {
    let mut command = Command::new("grpcurl");
    command.arg("-plaintext").args(before).arg(&server.address).args(after).stdin(Stdio::null());
    command.output().expect("grpcurl runs")
}

fn the_documented_session(_: &Server) -> Checked {
    let fresh = Server::start();
    for call in session::calls() {
        let output = run(&fresh, &["-d", call.request], &[call.method]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        call.assert_shown(&output.stdout);
    }
    Ok(())
}

fn errors_have_readable_details(server: &Server) -> Checked {
    let request = r#"{"utterances":[{"role":"ROLE_TOOL","content":"42","tool_call_id":"c9"}]}"#;
    let output = run(server, &["-d", request], &["utterd.v1.MemoryService/Memorize"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in ["Code: FailedPrecondition", "NO_OPEN_CALL", "utterances[0].tool_call_id"] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    assert!(!error.contains("not recognized"), "{error}");
    Ok(())
}

fn services_are_listed(server: &Server) -> Checked {
    let output = run(server, &[], &["list"]);
    let services = String::from_utf8_lossy(&output.stdout).into_owned();
    for service in ["utterd.v1.MemoryService", "grpc.health.v1.Health"] {
        assert!(services.contains(service), "{service} is not in\n{services}");
    }
    Ok(())
}
