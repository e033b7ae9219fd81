//! The binary, serving on a free port.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

/// A server process, killed when it is dropped.
pub struct Server {
    process: Child,
    /// Where it listens: `127.0.0.1:PORT`.
    pub address: String,
    // Kept open: a server whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
    // Its working directory: no configuration file of the project's is read.
    _directory: TempDir,
}

impl Server {
    /// Starts it and waits until it says that it listens.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_utterd"));
        let set = env::vars_os().map(|(name, _)| name);
        for name in set.filter(|name| name.to_string_lossy().starts_with("UTTERD_")) {
            command.env_remove(name);
        }
        command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let address = address(&mut stdout);
        Self { process, address, _stdout: stdout, _directory: directory }
    }
}

fn address(stdout: &mut impl BufRead) -> String {
    let lines = stdout.lines().map(|line| line.expect("the server prints text"));
    let mut addresses = lines.filter_map(|line| Some(line.split_once("listening on ")?.1.trim().to_owned()));
    addresses.next().expect("the server says where it listens")
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
