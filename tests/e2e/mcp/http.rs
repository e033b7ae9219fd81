//! The protocol over HTTP.

use std::{
    io::{BufReader, Read, Write},
    net::TcpStream,
    process::{ChildStdout, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    mcp::client::initialize,
    support::binary::{CREDENTIALS, Process, Server, assert_holds, line_with, token, utterd},
};

/// A listening process, with the given flags.
struct Listening {
    address: String,
    process: Process,
    _stdout: BufReader<ChildStdout>,
    _directory: TempDir,
}

impl Listening {
    fn start(flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = utterd(directory.path());
        command.args(["mcp", "--all-tools", "--http", "127.0.0.1:0"]).args(flags).env("UTTERD_LOG", "error");
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the process starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let process = Process(child);
        let line = line_with(&mut stdout, "serving MCP on http://");
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        Self { address: address.to_owned(), process, _stdout: stdout, _directory: directory }
    }

    /// Sends a request with these headers, and a host unless they have one; returns status, head and body.
    fn send(&self, request: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        let mut text =
            format!("{request} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_lowercase(), body.to_owned())
    }

    fn post(&self, headers: &[(&str, &str)], method: &str, params: Value) -> (u16, String, String) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let types = [("accept", "application/json, text/event-stream"), ("content-type", "application/json")];
        self.send("POST /mcp", &[&types, headers].concat(), &message.to_string())
    }

    #[track_caller]
    fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> Value {
        let (status, _, body) =
            self.post(headers, "tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<Value>(&body).expect("JSON")["result"].take()
    }
}

#[test]
fn each_request_stands_for_itself() {
    let listening = Listening::start(&[]);
    let (status, head, body) = listening.post(&[], "initialize", initialize());
    assert_eq!((status, head.contains("mcp-session-id")), (200, false), "{head}");
    assert_holds(&body, &["\"name\":\"utterd\"", "\"protocolVersion\":\"2025-06-18\""]);
    let messages = json!([{ "role": "user", "content": "The train leaves at nine." }]);
    assert_eq!(listening.call(&[], "memorize", json!({ "messages": messages }))["isError"], false);
    let found = listening.call(&[], "remember", json!({ "prompt": "train" }));
    assert_eq!(found["structuredContent"]["matches"][0]["utterance"]["content"], "The train leaves at nine.");
    let (status, ..) = listening.send("GET /mcp", &[("accept", "text/event-stream")], "");
    assert_eq!(status, 405);
    let (status, _, body) = listening.send("POST /", &[], "{}");
    assert_eq!((status, &*body), (404, "MCP is served on /mcp\n"));
}

#[test]
fn hosts_and_origins_of_elsewhere_are_refused() {
    let flags = ["--http-host", "chat.example.org", "--http-origin", "https://chat.example.org:443"];
    let listening = Listening::start(&flags);
    let status = |headers: &[(&str, &str)]| listening.post(headers, "ping", json!({})).0;
    let address = listening.address.clone();
    let port = address.rsplit(':').next().expect("a port");
    for host in [&*address, &format!("localhost:{port}"), &format!("[::1]:{port}"), "chat.example.org"] {
        assert_eq!(status(&[("host", host)]), 200, "{host}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "example.org"] {
        assert_eq!(status(&[("host", host)]), 403, "{host}");
    }
    for origin in ["http://localhost:6274", "http://127.0.0.1:1", "https://chat.example.org"] {
        assert_eq!(status(&[("origin", origin)]), 200, "{origin}");
    }
    for origin in ["https://evil.example", "null", "http://chat.example.org", "http://localhost.evil.example"]
    {
        assert_eq!(status(&[("origin", origin)]), 403, "{origin}");
    }
}

#[test]
fn what_is_no_message_is_told_in_the_protocols_way() {
    let listening = Listening::start(&[]);
    let types = [("accept", "application/json, text/event-stream"), ("content-type", "application/json")];
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("not JSON", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("{}", -32600, Value::Null),
        ("[1]", -32600, Value::Null),
        ("{\"id\":3,\"params\":", -32700, Value::Null),
        ("{\"id\":4,\"method\":\"ping\"}", -32600, json!(4)),
    ] {
        let (status, head, answer) = listening.send("POST /mcp", &types, body);
        let told: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!((status, &told["error"]["code"]), (400, &json!(code)), "{body:?}: {answer}");
        assert_eq!((&told["jsonrpc"], &told["id"]), (&json!("2.0"), &id));
        assert_holds(&head, &["content-type: application/json"]);
    }
    let plain = [types[0], ("content-type", "text/plain")];
    assert_eq!(listening.send("POST /mcp", &plain, "{}").0, 415);
}

#[test]
fn a_request_is_for_one_host() {
    let listening = Listening::start(&[]);
    let hosts = |hosts: &[(&str, &str)]| listening.send("POST /mcp", hosts, "{}").0;
    assert_eq!(hosts(&[("host", "localhost"), ("host", "localhost")]), 400);
    let target = |target: &str| listening.send(&format!("POST {target}"), &[("host", "localhost")], "{}").0;
    assert_eq!(target("http://evil.example/mcp"), 403);
    assert_ne!(target("http://localhost/mcp"), 403);
}

/// Requests that announce much and send little, and as many connections as there are.
#[test]
fn requests_that_do_not_come_keep_nobody_waiting() {
    let listening = Listening::start(&[]);
    let _slow: Vec<_> = (0..150)
        .map(|_| {
            let mut stream = TcpStream::connect(&listening.address).expect("it listens");
            let head = format!(
                "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: 16000000\r\n\r\n{{",
                listening.address
            );
            stream.write_all(head.as_bytes()).expect("it reads");
            stream
        })
        .collect();
    assert_eq!(listening.post(&[], "ping", json!({})).0, 200);
}

#[test]
fn callers_show_the_server_who_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let token = |namespace| {
        let token = token(directory.path(), namespace, "read-write", &["--namespace", namespace]);
        format!("Bearer {token}")
    };
    let (shop, desk) = (token("shop"), token("desk"));
    let server = Server::start_in(directory, &["--credentials", "credentials.toml"]);
    let listening = Listening::start(&["--server", &server.address]);
    let (status, head, body) = listening.post(&[], "initialize", initialize());
    assert_eq!(status, 401, "{body}");
    assert_holds(&head, &["www-authenticate: bearer"]);
    assert_holds(&body, &["[MISSING_CREDENTIALS]"]);
    assert_eq!(listening.post(&[("authorization", "Bearer wrong")], "tools/list", json!({})).0, 401);
    assert_eq!(
        listening.post(&[("authorization", &shop), ("authorization", &desk)], "ping", json!({})).0,
        401
    );
    let abroad = [("authorization", &*shop), ("utterd-namespace", "desk")];
    assert_eq!(listening.post(&abroad, "ping", json!({})).0, 403);

    let messages = json!([{ "role": "user", "content": "The train leaves at nine." }]);
    listening.call(&[("authorization", &shop)], "memorize", json!({ "messages": messages }));
    let count = |token: &str| {
        let capacity = listening.call(&[("authorization", token)], "get_capacity_info", json!({}));
        capacity["structuredContent"]["capacity"]["utteranceCount"].clone()
    };
    assert_eq!((count(&shop), count(&desk)), (json!(1), json!(0)), "a namespace sees nothing of another");
}

/// A server of the process's own requires credentials like a running one.
#[test]
fn a_server_of_its_own_asks_too_who_calls() {
    let directory = tempfile::tempdir().expect("a directory");
    let credentials = directory.path().join(CREDENTIALS);
    let token = token(directory.path(), "a", "read-write", &[]);
    std::fs::write(directory.path().join("own.toml"), format!("credentials = {credentials:?}"))
        .expect("a file");
    let config = directory.path().join("own.toml");
    let listening = Listening::start(&["--config", config.to_str().expect("a path")]);
    assert_eq!(listening.post(&[], "tools/list", json!({})).0, 401);
    let bearer = format!("Bearer {token}");
    let capacity = listening.call(&[("authorization", &bearer)], "get_capacity_info", json!({}));
    assert_eq!(capacity["isError"], false, "{capacity}");
}

#[test]
fn it_ends_when_it_is_asked_to() {
    let mut listening = Listening::start(&[]);
    // a connection without a request blocks nothing
    let _resting = TcpStream::connect(&listening.address).expect("it listens");
    assert_eq!(listening.post(&[], "ping", json!({})).0, 200);
    kill_process(Pid::from_child(&listening.process.0), Signal::TERM).expect("it runs");
    assert!(listening.process.0.wait().expect("it ran").success());
}
