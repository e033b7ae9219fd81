//! A client that writes requests and reads responses, line by line.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::binary::{Process, utterd};

/// The first message of clients that do not use the newest protocol.
pub fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

/// A process of `utterd mcp`, and the pipes to it.
pub struct Client {
    pub process: Process,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
    _directory: Option<TempDir>,
}

impl Client {
    /// A client of its own in-memory server, after the handshake.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with these flags.
    pub fn start_with(flags: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let client = Self::start_in(directory.path(), flags);
        Self { _directory: Some(directory), ..client }
    }

    /// A client in a directory with these flags, after the handshake.
    pub fn start_in(directory: &Path, flags: &[&str]) -> Self {
        let mut command = utterd(directory);
        command.arg("mcp").args(flags);
        Self::of(command)
    }

    /// The client of the process that `command` starts, after the handshake.
    pub fn of(command: Command) -> Self {
        Self::silent(command).greeted()
    }

    /// A client whose model gets the answers, after the handshake.
    pub fn of_model() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = utterd(directory.path());
        command.arg("mcp").env("UTTERD_LOG", "error");
        Self { _directory: Some(directory), ..Self::piped(command).greeted() }
    }

    fn greeted(self) -> Self {
        let mut client = self;
        let answer = client.request("initialize", initialize());
        assert_eq!(answer["serverInfo"]["name"], "utterd");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// The client of the process that `command` starts, before the handshake.
    pub fn silent(command: Command) -> Self {
        Self::silent_with_log(command, "error")
    }

    /// The same, with this log level. Every answer is also for a program.
    pub fn silent_with_log(mut command: Command, level: &str) -> Self {
        command.args(["--recipient", "tester", "--all-tools"]).env("UTTERD_LOG", level);
        Self::piped(command)
    }

    fn piped(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the process starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { process: Process(child), stdin, stdout, next: 1, _directory: None }
    }

    /// Writes a line.
    pub fn write(&mut self, message: &Value) {
        self.write_text(&message.to_string());
    }

    pub fn write_text(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    /// Writes these bytes, without the end of a line.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("the process reads");
    }

    /// Writes a request; returns its id.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Reads a line, which must be a protocol message.
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the process is read");
        let message: Value = serde_json::from_str(&line).expect("a message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The response to a request: its result, or its error.
    #[track_caller]
    pub fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The result of a request.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    /// The error of a request.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.answer(method, params);
        assert!(answer["result"].is_null(), "{answer}");
        answer["error"].take()
    }

    /// Calls a tool that succeeds: its structured content and its text.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let mut result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = text(&result);
        assert_eq!(result["isError"], false, "{text}");
        (result["structuredContent"].take(), text)
    }

    /// Calls a tool that fails: its message.
    #[track_caller]
    pub fn fail(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(result["isError"], true, "{result}");
        text(&result)
    }

    /// Stores a user's message; returns its conversation.
    pub fn memorize(&mut self, content: &str) -> String {
        let (stored, _) =
            self.call("memorize", json!({ "messages": [{ "role": "user", "content": content }] }));
        stored["conversationId"].as_str().expect("an id").to_owned()
    }

    /// Closes stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// The remaining messages until the process closes stdout, and its exit status.
    pub fn rest(mut self) -> (Vec<Value>, ExitStatus) {
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("the process is read");
        let messages = text.lines().map(|line| serde_json::from_str(line).expect("a message"));
        (messages.collect(), self.process.0.wait().expect("it ran"))
    }
}

fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}
