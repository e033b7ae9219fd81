//! A server in a process of its own, and what the system says of it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use utterd::{config::Settings, engine::SystemClock, server::Server};

use crate::empty::Empty;

/// The argument that makes this program a server.
pub const SERVE: &str = "--serve";

/// Serves utterd and the empty call on a free port until killed.
pub fn serve() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let settings = Settings { listen, memory_limit: 0, log: "warn".to_owned(), ..Settings::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let server = Server::new(&settings, Arc::new(SystemClock)).expect("a server").with_service(Empty);
        server.listen(&settings).await.expect("the server serves");
    });
}

/// A running server; killed when dropped.
pub struct ServerProcess {
    child: Child,
    /// Where it listens.
    pub address: String,
}

impl ServerProcess {
    /// Starts one and waits until it listens.
    pub fn start() -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut child =
            Command::new(program).arg(SERVE).stdout(Stdio::piped()).spawn().expect("a server starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
        Self { child, address: format!("http://{address}") }
    }

    /// The processor time that it has taken.
    pub fn cpu(&self) -> Duration {
        const TICKS_A_SECOND: u64 = 100;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("its stat");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks = |field: usize| fields[field].parse::<u64>().expect("ticks");
        Duration::from_millis((ticks(11) + ticks(12)) * 1_000 / TICKS_A_SECOND)
    }

    /// The memory that it has resident, in bytes.
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
