//! The binary as a person uses it: a server process, and commands that call it.
#![allow(dead_code)] // each test uses its part

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, Weak},
};

use tempfile::TempDir;

/// The binary.
pub const UTTERD: &str = env!("CARGO_BIN_EXE_utterd");

/// A command in an empty directory, with no setting in its environment.
pub fn utterd(directory: &Path) -> Command {
    within(directory, UTTERD)
}

/// A program in a directory, with no setting in its environment.
pub fn within(directory: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("UTTERD_")) {
        command.env_remove(name);
    }
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// What a command wrote, and its exit code.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the command starts");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Its stdout; the command must have succeeded.
    #[track_caller]
    pub fn worked(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Its stderr; the command must have exited with `code` and printed nothing to stdout.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}", self.stderr);
        self.stderr
    }
}

/// The file that [`token`] adds entries to.
pub const CREDENTIALS: &str = "credentials.toml";

/// A new token, whose entry is added to the credentials in `directory`.
pub fn token(directory: &Path, name: &str, role: &str, more: &[&str]) -> String {
    let mut command = utterd(directory);
    command.args(["token", "new", "--name", name, "--role", role, "--append", CREDENTIALS]).args(more);
    let output = Outcome::of(&mut command).worked();
    assert_eq!(output.lines().count(), 1, "the token alone: {output}");
    output.trim().to_owned()
}

#[track_caller]
pub fn assert_holds(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

/// A process that is killed when the test ends.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It might have exited by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server on a free port, in its own directory.
pub struct Server {
    pub address: String,
    pub directory: TempDir,
    process: Process,
    // Kept open: a server whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// A server with the default settings, shared with the tests that run at the same time; each test uses
    /// its own conversations and files.
    pub fn shared() -> Arc<Self> {
        static RUNNING: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        running.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(&[]));
            *running = Arc::downgrade(&server);
            server
        })
    }

    pub fn start(flags: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().expect("a directory"), flags)
    }

    pub fn start_in(directory: TempDir, flags: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", directory, flags)
    }

    pub fn start_at(address: &str, directory: TempDir, flags: &[&str]) -> Self {
        let mut command = utterd(directory.path());
        command.args(["serve", "--listen", address, "--log", "warn"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let process = Process(child);
        let line = line_with(&mut stdout, "listening on ");
        let (_, address) = line.split_once("listening on ").expect("just found");
        let address = address.trim_end().to_owned();
        Self { address, directory, process, _stdout: stdout }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = utterd(self.directory.path());
        command.args(arguments).env("UTTERD_SERVER", &self.address);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command(arguments))
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Asks it to read its files again.
    pub fn reload(&self) {
        self.signal(rustix::process::Signal::HUP);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.process.0);
        rustix::process::kill_process(process, signal).expect("it runs");
    }

    /// Waits until it has exited by itself.
    pub fn ended(mut self) {
        assert!(self.process.0.wait().expect("it ran").success());
    }

    /// Kills it; returns its directory.
    pub fn kill(self) -> TempDir {
        self.directory
    }

    pub fn file(&self, name: &str, text: &str) {
        fs::write(self.directory.path().join(name), text).expect("the file is written");
    }
}

/// The next line that contains `part`.
#[track_caller]
pub fn line_with(reader: &mut impl BufRead, part: &str) -> String {
    let mut seen = String::new();
    loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line).expect("the process is read");
        seen.push_str(&line);
        assert_ne!(read, 0, "it ended without {part:?}:\n{seen}");
        if line.contains(part) {
            return line;
        }
    }
}
