//! The server process of a cluster.
//!
//! A shell starts it, waits for a line with a signal on its stdin, and sends that signal to the server. If
//! stdin ends first, because the test process has dropped it or is gone, it kills the server.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStderr, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use super::{home::Home, programs::Programs};

/// Runs `postgres` ($1) over a directory ($2).
///
/// A kill stops the server before it lists its processes, so that it starts no other. If the test process ends
/// at that moment, the kernel sends HUP to this group, because one of it is stopped. After a kill, nobody else
/// removes the shared memory, whose id ends line 7 of the server's file.
const RUN: &str = r#"
trap '' HUP
"$1" -D "$2" </dev/null &
server=$!
exec 2>/dev/null
read -r signal || signal=KILL
if [ "$signal" = KILL ]; then
    kill -STOP $server
    kill -KILL $server $(cat /proc/$server/task/$server/children)
else
    kill -s "$signal" $server
fi
wait $server
ipcrm -m $(sed -n '7s/.* //p' "$2/postmaster.pid")
"#;

/// What the server logs when it accepts connections; a standby goes on with `read-only`.
const READY: &str = "database system is ready to accept ";

/// Maximum number of lines that are kept of the log.
const LINES: usize = 1000;

/// A server that is killed when it is dropped.
pub struct Server {
    shell: Child,
    log: Arc<Mutex<VecDeque<String>>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the server over the data in `home`, and waits until it accepts connections; the error is its
    /// log.
    pub fn start(home: &Home, programs: &Programs) -> Result<Self, String> {
        let mut shell = home.command(Path::new("sh"));
        shell.args(["-c", RUN, "sh"]).arg(programs.path("postgres")).arg(home.data());
        shell.stdin(Stdio::piped());
        let mut shell = home.spawn(shell)?;
        let stderr = shell.stderr.take().expect("stderr is piped");
        let mut server = Self { shell, log: Arc::default(), reader: None };
        let mut stderr = BufReader::new(stderr);
        let mut seen = String::new();
        while !seen.contains(READY) {
            if stderr.read_line(&mut seen).unwrap_or(0) == 0 {
                return Err(format!("PostgreSQL does not start:\n{seen}"));
            }
        }
        let log = server.log.clone();
        server.reader = Some(thread::spawn(move || keep(stderr, &log)));
        Ok(server)
    }

    /// What it logged last, since it accepted connections.
    pub fn log(&self) -> String {
        let lines = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect()
    }

    /// Sends it a signal and waits until all its processes are gone.
    pub fn stop(mut self, signal: &str) {
        let stdin = self.shell.stdin.as_mut().expect("stdin is piped");
        writeln!(stdin, "{signal}").expect("the shell waits for it");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // closes stdin first
        let _ = self.shell.wait();
        // each of its processes has stderr open
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Reads the log until no process can write to it.
fn keep(mut stderr: BufReader<ChildStderr>, log: &Mutex<VecDeque<String>>) {
    let mut line = Vec::new();
    while stderr.read_until(b'\n', &mut line).unwrap_or(0) > 0 {
        let mut lines = log.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(String::from_utf8_lossy(&line).into_owned());
        if lines.len() > LINES {
            lines.pop_front();
        }
        line.clear();
    }
}
