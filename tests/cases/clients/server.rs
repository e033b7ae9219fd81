//! The binary, serving on a free port.

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::{ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

use crate::support::binary::{CREDENTIALS, Process, token, utterd};

/// A server process, killed when dropped.
pub struct Server {
    _process: Process,
    /// The address it listens on: `127.0.0.1:PORT`, or a Unix socket.
    pub address: String,
    // Kept open: a server whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
    // Its working directory: no configuration file of the project is read.
    directory: TempDir,
}

impl Server {
    /// Starts it and waits until it reports that it listens.
    pub fn start() -> Self {
        Self::start_in(directory(), &[])
    }

    /// A server that requires credentials, and a token that can write.
    pub fn guarded() -> (Self, String) {
        let directory = directory();
        let token = token(directory.path(), "test", "read-write", &[]);
        (Self::start_in(directory, &["--credentials", CREDENTIALS]), token)
    }

    /// A server on a Unix socket.
    pub fn on_a_socket() -> Self {
        let directory = directory();
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", "unix:socket"]);
        Self::of(command, directory)
    }

    /// A server whose metrics are on the Unix socket `metrics` in its directory.
    pub fn measured() -> Self {
        Self::start_in(directory(), &["--metrics-listen", "unix:metrics"])
    }

    /// The metrics, as Prometheus reads them.
    pub fn metrics(&self) -> String {
        let mut stream = UnixStream::connect(self.directory.path().join("metrics")).expect("a connection");
        let request = b"GET /metrics HTTP/1.1\r\nhost: utterd\r\nconnection: close\r\n\r\n";
        stream.write_all(request).expect("a request is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
        text.to_owned()
    }

    fn start_in(directory: TempDir, flags: &[&str]) -> Self {
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
        Self::of(command, directory)
    }

    /// The server that a command starts, in a directory that is removed with it.
    fn of(mut command: Command, directory: TempDir) -> Self {
        command.stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let address = address(&mut stdout);
        Self { _process: Process(process), address, _stdout: stdout, directory }
    }
}

pub fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn address(stdout: &mut impl BufRead) -> String {
    let lines = stdout.lines().map(|line| line.expect("the server prints text"));
    let mut addresses = lines.filter_map(|line| Some(line.split_once("listening on ")?.1.trim().to_owned()));
    addresses.next().expect("the server says where it listens")
}
