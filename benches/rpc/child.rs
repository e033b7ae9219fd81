//! A server in a separate process, and what the system reports of it.

use std::{
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use utterd::{
    config::{KEYS, Settings, Sources},
    engine::SystemClock,
    server::{Server, Start},
    telemetry::Exporter,
};

use crate::empty::Empty;

/// The argument that turns this program into a server.
pub const SERVE: &str = "--serve";

/// Serves utterd and the empty call until killed, or until the program that started it exits: on a free port,
/// with the memory store, and otherwise as configured by `arguments`, each a `key=value` of the
/// configuration.
pub fn serve(arguments: impl Iterator<Item = String>) {
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        process::exit(0)
    });
    let settings = settings(arguments);
    let endpoint = settings.traces_endpoint.as_ref();
    let _traces = endpoint.map(|endpoint| {
        Exporter::to(&endpoint.to_string(), settings.traces_sampled.get()).expect("traces are exported")
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let server = Server::new(&settings, Arc::new(SystemClock)).expect("a server").with_service(Empty);
        server.listen(&settings, Start::default()).await.expect("the server serves");
    });
}

fn settings(arguments: impl Iterator<Item = String>) -> Settings {
    let usual = ["listen=127.0.0.1:0", "memory_limit=1TiB", "log=warn"].map(str::to_owned);
    let flags = usual.into_iter().chain(arguments).map(|argument| {
        let (name, value) = argument.split_once('=').expect("key=value");
        (KEYS.iter().find(|key| key.name == name).expect("a key").name, value.to_owned())
    });
    Sources { flags: flags.collect(), ..Sources::default() }.load().expect("settings").settings
}

fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// A running server; killed when dropped.
pub struct ServerProcess {
    child: Child,
    /// The address it listens on.
    pub address: String,
}

impl ServerProcess {
    /// Starts a server with `settings`, each a `key=value` of the configuration, and waits until it listens.
    pub fn start(settings: &[String]) -> Self {
        Self::of(Command::new(this_program()), settings)
    }

    /// Starts a server whose instructions valgrind counts, and writes to `log` when the server [ends](Self::end).
    pub fn counted(log: &Path) -> Self {
        let mut command = Command::new("valgrind");
        command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        command.arg(format!("--log-file={}", log.display())).arg(this_program());
        Self::of(command, &[])
    }

    fn of(mut command: Command, settings: &[String]) -> Self {
        let mut child = command
            .arg(SERVE)
            .args(settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{:?} does not start: {error}", command.get_program()));
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
        Self { child, address: format!("http://{address}") }
    }

    /// Ends the server, and waits until it has.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("its end");
    }

    /// The processor time used so far.
    pub fn cpu(&self) -> Duration {
        const TICKS_A_SECOND: u64 = 100;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("its stat");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks = |field: usize| fields[field].parse::<u64>().expect("ticks");
        Duration::from_millis((ticks(11) + ticks(12)) * 1_000 / TICKS_A_SECOND)
    }

    /// The resident memory in bytes.
    pub fn resident(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its resident size");
        let kib: u64 = line.split_whitespace().nth(1).expect("a size").parse().expect("a number");
        kib * 1_024
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
