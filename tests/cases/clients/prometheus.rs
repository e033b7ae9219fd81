//! `promtool`: Prometheus' own parser and linter of metrics and alerts.

use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::utterd,
};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "promtool",
    probe: &["promtool", "--version"],
    install: "apt-get install prometheus",
    optional: false,
    checks: &[
        ("metrics_are_accepted", metrics_are_accepted),
        ("alerts_are_accepted", alerts_are_accepted),
        ("alerts_fire", alerts_fire),
    ],
};

fn metrics_are_accepted(_: &Server) -> Checked {
    let server = Server::measured();
    for text in ["hello", "and again"] {
        call(&server, &["memorize", text]);
    }
    let metrics = server.metrics();
    let of_memorize = r#"{grpc_code="OK",grpc_method="Memorize",grpc_service="utterd.v1.MemoryService",grpc_type="unary"} 2"#;
    for line in
        [format!("grpc_server_handled_total{of_memorize}"), "utterd_utterances_memorized_total 2".into()]
    {
        assert!(metrics.lines().any(|it| it == line), "{line} is not in\n{metrics}");
    }
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().expect("promtool runs");
    let mut stdin = promtool.stdin.take().expect("stdin is piped");
    stdin.write_all(metrics.as_bytes()).expect("promtool reads");
    drop(stdin);
    is_silent(&promtool.wait_with_output().expect("promtool ends"))
}

fn call(server: &Server, arguments: &[&str]) {
    let mut command = utterd(Path::new("."));
    let output = command.args(arguments).args(["--server", &format!("http://{}", server.address)]).output();
    let output = output.expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether promtool found nothing to complain about.
fn is_silent(output: &Output) -> Checked {
    let told =
        [&output.stdout, &output.stderr].map(|told| String::from_utf8_lossy(told).into_owned()).concat();
    if output.status.success() && told.is_empty() { Ok(()) } else { Err(told.into()) }
}

fn rules(arguments: &[&str]) -> Checked {
    let mut promtool = Command::new("promtool");
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/prometheus");
    let output = promtool.args(arguments).current_dir(directory).output().expect("promtool runs");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
        .into()),
    }
}

fn alerts_are_accepted(_: &Server) -> Checked {
    rules(&["check", "rules", "alerts.yaml"])
}

fn alerts_fire(_: &Server) -> Checked {
    rules(&["test", "rules", "alerts.test.yaml"])
}
