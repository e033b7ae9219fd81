//! The built server as a process over a directory.

use std::{
    env,
    fs::File,
    io::{BufRead, BufReader, Read, Seek},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

/// The storage of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// In the process: a restart loses everything.
    Memory,
    /// In files, with the engine fjall.
    Fjall,
    /// In files, with the engine sled.
    Sled,
    /// In a database, which additional flags name.
    #[allow(dead_code)] // another test uses it
    Postgres,
}

impl Backend {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "in-memory",
            Self::Fjall => "fjall",
            Self::Sled => "sled",
            Self::Postgres => "postgres",
        }
    }
}

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Its backend.
    pub backend: Backend,
    /// Its directory.
    pub data: &'a Path,
    /// Additional flags.
    pub flags: &'a [&'a str],
    /// Variables of its environment.
    pub variables: Vec<(&'static str, String)>,
}

impl<'a> Start<'a> {
    /// A server over `data`, with the default settings.
    pub fn new(backend: Backend, data: &'a Path) -> Self {
        Self { backend, data, flags: &[], variables: Vec::new() }
    }

    /// Starts it and waits until it listens; the error is its output if it does not.
    pub fn start(&self) -> Result<Server, String> {
        let mut command = self.command();
        let errors = tempfile::tempfile().expect("a file");
        command.stdout(Stdio::piped()).stderr(errors.try_clone().expect("a descriptor"));
        let process = self.spawn(&mut command);
        Server::listening(process, errors)
    }

    /// Starts it and kills it after this many spins of this thread, listening or not.
    pub fn start_and_kill(&self, spins: usize) {
        self.interrupt(&mut self.command(), spins);
    }

    /// Scrubs the files while no server uses them.
    pub fn scrub(&self) -> Result<(), String> {
        worked("utterd scrub", &mut self.upkeep("scrub"))
    }

    /// Starts a scrub and kills it after this many spins of this thread.
    pub fn scrub_and_kill(&self, spins: usize) {
        self.interrupt(&mut self.upkeep("scrub"), spins);
    }

    /// Checks the files while no server uses them; the error says what is wrong.
    pub fn verify(&self) -> Result<(), String> {
        worked("utterd verify", &mut self.upkeep("verify"))
    }

    fn interrupt(&self, command: &mut Command, spins: usize) {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = self.spawn(command);
        spin(spins);
        drop(process);
    }

    fn spawn(&self, command: &mut Command) -> Process {
        Process::new(command.spawn().expect("the command starts"), &self.variables)
    }

    fn upkeep(&self, verb: &str) -> Command {
        let mut command = utterd();
        command.arg(verb).arg(format!("{}:{}", self.backend.name(), self.data.display()));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn command(&self) -> Command {
        let mut command = utterd();
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"]);
        command.args(["--backend", self.backend.name()]).args(self.flags);
        if matches!(self.backend, Backend::Fjall | Backend::Sled) {
            command.arg("--data-dir").arg(self.data);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The error is the command's output if it exits with a code other than 0.
fn worked(name: &str, command: &mut Command) -> Result<(), String> {
    let output = command.output().expect("the command starts");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    match output.status.code() {
        Some(0) => Ok(()),
        code => Err(format!("{name} ends with {code:?}:\n{}", said.concat())),
    }
}

/// Keeps this thread busy, for a time that no clock measures.
pub fn spin(spins: usize) {
    (0..spins).for_each(|_| std::hint::spin_loop());
}

/// The binary, without settings from the environment or a configuration file.
fn utterd() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utterd"));
    let settings = env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("UTTERD_")) {
        command.env_remove(name);
    }
    command.current_dir(env::temp_dir()).stdin(Stdio::null());
    command
}

/// A listening server; killed when dropped.
pub struct Server {
    process: Process,
    /// The address it listens on: `127.0.0.1:PORT`.
    pub address: String,
    errors: File,
    // Kept open: a server whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    fn listening(mut process: Process, errors: File) -> Result<Self, String> {
        let mut stdout = BufReader::new(process.child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server is read");
        match line.split_once("listening on ") {
            Some((_, address)) => {
                Ok(Self { process, address: address.trim().to_owned(), errors, _stdout: stdout })
            }
            None => {
                let status = process.child.wait().expect("it ends");
                Err(format!("the server does not start: {status}\n{line}{}", told(errors)))
            }
        }
    }

    /// Its process id.
    pub fn process_id(&self) -> u32 {
        self.process.child.id()
    }

    /// Kills it like a power switch would; returns its stderr.
    pub fn kill(mut self) -> String {
        self.process.kill();
        told(self.errors)
    }

    /// Asks it to stop, and waits until it has exited.
    pub fn end(mut self) -> String {
        let id = self.process_id();
        let asked = Command::new("sh").arg("-c").arg(format!("kill -TERM {id}")).status();
        assert!(asked.expect("a shell").success(), "the server is not there to end");
        let status = self.process.child.wait().expect("it ends");
        assert!(status.success(), "the server ended with {status}");
        told(self.errors)
    }
}

fn told(mut errors: File) -> String {
    let mut text = String::new();
    // What cannot be read is only missing from a message.
    let _ = errors.rewind();
    let _ = errors.read_to_string(&mut text);
    text
}

/// A process; killed when dropped.
pub struct Process {
    child: Child,
    /// The log of its recorder, if it is recorded.
    log: Option<PathBuf>,
}

impl Process {
    /// A process that was started with these variables.
    pub fn new(child: Child, variables: &[(&'static str, String)]) -> Self {
        let log = variables.iter().find(|(name, _)| *name == "POWER_LOG");
        Self { child, log: log.map(|(_, path)| path.into()) }
    }

    /// Kills it: if it is recorded, not between what it does to a file and the record of that.
    pub fn kill(&mut self) {
        let log = self.log.as_ref().map(|path| File::open(path).expect("the log is there"));
        if let Some(log) = &log {
            log.lock().expect("the log can be locked");
        }
        // It might have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
