//! The directory of a cluster, and the user who owns it.
//!
//! A shell makes the directory, waits until its stdin ends, and removes the directory. The other end of that
//! pipe is held by the test process, and by every process of the cluster as its stdout: so the directory
//! exists as long as any of them does, and no longer.

use std::{
    fs::OpenOptions,
    io::{self, BufRead, BufReader, PipeWriter, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::programs::command;

/// Makes a directory and writes its path, which nobody might be left to read.
const KEEP: &str = r#"
trap '' HUP PIPE
directory=$(mktemp -d "${TMPDIR:-/tmp}/utterd-postgres-XXXXXX") ||
    directory=$(mktemp -d /tmp/utterd-postgres-XXXXXX) || exit
echo "$directory"
exec >/dev/null
cat
rm -rf "$directory"
"#;

/// A directory that is removed when it is dropped or this process ends.
pub struct Home {
    path: PathBuf,
    owner: Option<Owner>,
    shell: Child,
    /// `None` only while it is dropped.
    held: Option<PipeWriter>,
}

/// The user and group whose processes and files these are. PostgreSQL refuses to run as root.
#[derive(Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

impl Home {
    /// A new directory.
    pub fn new() -> Result<Self, String> {
        let owner = if id(&["-u"]) == Some(0) { Some(Owner::find()?) } else { None };
        Self::owned(owner).map_err(|error| format!("there is no directory for PostgreSQL: {error}"))
    }

    fn owned(owner: Option<Owner>) -> io::Result<Self> {
        let (end, held) = io::pipe()?;
        let mut shell = command_as(owner, Path::new("sh"));
        shell.args(["-c", KEEP]).stdin(end).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = shell.spawn()?;
        let mut path = String::new();
        BufReader::new(shell.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?).read_line(&mut path)?;
        match path.trim_end_matches('\n') {
            "" => Err(io::Error::other("mktemp fails in TMPDIR and in /tmp")),
            path => Ok(Self { path: path.into(), owner, shell, held: Some(held) }),
        }
    }

    /// The directory of the data.
    pub fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The directory of the Unix-domain socket.
    pub fn sockets(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// A program for [`Self::run`] or [`Self::spawn`].
    pub fn command(&self, program: &Path) -> Command {
        command_as(self.owner, program)
    }

    /// Runs a command to its end; the error is what it wrote to stderr.
    pub fn run(&self, command: Command) -> Result<(), String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let output = self.spawn(command)?.wait_with_output();
        let output = output.map_err(|error| format!("{name} cannot be read: {error}"))?;
        let failure = || format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr));
        output.status.success().then_some(()).ok_or_else(failure)
    }

    /// Starts a command whose processes the directory outlives. Its stderr is piped.
    pub fn spawn(&self, mut command: Command) -> Result<Child, String> {
        let held = self.held.as_ref().expect("it is not dropped").try_clone();
        let started = held.and_then(|held| command.stdout(held).stderr(Stdio::piped()).spawn());
        started.map_err(|error| format!("{} does not start: {error}", command.get_program().display()))
    }

    /// Adds settings, which replace earlier ones when the server starts.
    pub fn configure(&self, settings: &[(&str, &str)]) -> Result<(), String> {
        let quoted = |value: &str| value.replace('\\', "\\\\").replace('\'', "''");
        let lines = settings.iter().map(|(name, value)| format!("{name} = '{}'\n", quoted(value)));
        let lines: String = lines.collect();
        // this file wins over postgresql.conf, and ALTER SYSTEM changes it
        let file = OpenOptions::new().append(true).open(self.data().join("postgresql.auto.conf"));
        let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
        written.map_err(|error| format!("PostgreSQL's settings cannot be written: {error}"))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.held = None;
        let _ = self.shell.wait();
    }
}

impl Owner {
    fn find() -> Result<Self, String> {
        let named = |name| Some(Self { user: id(&["-u", name])?, group: id(&["-g", name])? });
        let found = named("postgres").or_else(|| named("nobody"));
        found.ok_or("PostgreSQL does not run as root, and there is neither a user postgres nor nobody".into())
    }
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// A program of `owner`, in its own process group: what a terminal sends to the tests does not reach it.
fn command_as(owner: Option<Owner>, program: &Path) -> Command {
    let mut command = command(program);
    command.current_dir("/").process_group(0);
    if let Some(owner) = owner {
        command.uid(owner.user).gid(owner.group);
    }
    command
}
