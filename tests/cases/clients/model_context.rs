//! Clients of the Model Context Protocol against `utterd mcp`: the official Python client, conformance suite
//! and inspector.

use std::{
    io::{BufRead, BufReader},
    process::{ChildStdout, Command, Stdio},
};

use serde_json::Value;

use crate::{
    clients::{
        Checked, Client,
        server::{Server, directory},
    },
    support::binary::{Process, within},
};

const UTTERD: &str = env!("CARGO_BIN_EXE_utterd");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/model_context.py");

/// The Python client: over stdio and HTTP, with the newest protocol version and the previous one.
pub const PYTHON: Client = Client {
    name: "mcp_python",
    probe: &["python3", "-c", "from mcp import Client"],
    install: "pip install mcp",
    optional: false,
    checks: &[
        ("over_stdio", |server| python(server, "over_stdio")),
        ("over_http", |server| python(server, "over_http")),
    ],
};

/// The conformance suite: the scenarios that apply. contributing/clients.md says why the others do not.
pub const CONFORMANCE: Client = Client {
    name: "mcp_conformance",
    probe: &["conformance", "--version"],
    install: "npm install -g @modelcontextprotocol/conformance@0.2.0-alpha.12, with Node 22",
    optional: false,
    checks: &[
        ("server_initialize", |server| conforms(server, "server-initialize")),
        ("server_stateless", |server| conforms_but_for(server, "server-stateless", &UNTESTABLE)),
        ("ping", |server| conforms(server, "ping")),
        ("tools_list", |server| conforms(server, "tools-list")),
        ("caching", |server| conforms_but_for(server, "caching", &ABSENT)),
        ("http_header_validation", |server| conforms(server, "http-header-validation")),
        ("dns_rebinding_protection", |server| conforms(server, "dns-rebinding-protection")),
        ("unsupported_methods", |server| conforms(server, "input-required-result-unsupported-methods")),
    ],
};

/// The checks that need a tool which only servers for these tests have.
const UNTESTABLE: [&str; 4] = [
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
];

/// The checks of lists that servers with tools alone do not have.
const ABSENT: [&str; 3] = [
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
];

/// The inspector's command line.
pub const INSPECTOR: Client = Client {
    name: "mcp_inspector",
    probe: &["mcp-inspector", "--help"],
    install: "npm install -g @modelcontextprotocol/inspector@0.15.0",
    optional: false,
    checks: &[("tools_are_listed_and_called", inspect)],
};

fn python(server: &Server, check: &str) -> Checked {
    let mut command = Command::new("python3");
    worked(command.args([SCRIPT, &server.address, UTTERD, check]))?;
    Ok(())
}

fn conforms(server: &Server, scenario: &str) -> Checked {
    conforms_but_for(server, scenario, &[])
}

/// The scenario's checks pass but for these, which cannot.
fn conforms_but_for(server: &Server, scenario: &str, untestable: &[&str]) -> Checked {
    let listening = Listening::before(server);
    let home = directory();
    let mut command = within(home.path(), "conformance");
    command.args(["server", "--url", &listening.url, "--scenario", scenario]);
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed: Vec<_> = told.lines().filter(|line| line.contains("FAILURE")).filter_map(named).collect();
    let counted = format!(", {} failed, 0 warnings", untestable.len());
    // a scenario without checks passes too
    match failed == untestable && told.contains(&counted) && !told.contains("Passed: 0/0") {
        true => Ok(()),
        false => Err((told + &String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// The name of a check in its line: `[ping] SUCCESS …`, in colours.
fn named(line: &str) -> Option<&str> {
    let name = line.split_whitespace().find_map(|word| word.strip_prefix('['))?;
    Some(name.trim_end_matches(']'))
}

fn inspect(server: &Server) -> Checked {
    let home = directory();
    let run = |arguments: &[&str]| {
        let mut command = within(home.path(), "mcp-inspector");
        let variable = format!("UTTERD_SERVER={}", server.address);
        command.args(["--cli", "-e", &variable, UTTERD, "mcp", "--method"]).args(arguments);
        let told = worked(&mut command)?;
        serde_json::from_str::<Value>(&told).map_err(|error| format!("{error}: {told}"))
    };
    let tools = run(&["tools/list"])?;
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(6), "{tools}");
    let called = run(&[
        "tools/call",
        "--tool-name",
        "remember",
        "--tool-arg",
        "prompt=zebra",
        "--tool-arg",
        "limit=1",
    ])?;
    let text = called["content"][0]["text"].as_str().unwrap_or_default();
    assert!(called["isError"] == false && text.starts_with("Nothing was found."), "{called}");
    Ok(())
}

/// The output of a command that succeeds.
fn worked(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stdout) + &text(&output.stderr)),
    }
}

/// `utterd mcp` over HTTP in front of a server, until dropped.
struct Listening {
    _process: Process,
    url: String,
    // Kept open: a process whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
}

impl Listening {
    fn before(server: &Server) -> Self {
        let home = directory();
        let mut command = within(home.path(), UTTERD);
        command.args(["mcp", "--server", &server.address, "--http", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the process starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the process says where it listens");
        let url = line.trim_end().rsplit(' ').next().expect("an address").to_owned();
        Self { _process: Process(process), url, _stdout: stdout }
    }
}
