//! How long a program waits when it starts its own server, and what the server then takes of the machine:
//! `cargo bench --bench start`.
//!
//! Medians of ten servers in memory, from the output of `--announce json`. Times are printed next to that of
//! a process which does nothing, since the speed of starting processes depends on the machine.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and panics if it cannot go on.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tonic::transport::{Channel, Endpoint};
use utterd::proto::{
    GetCapacityInfoRequest, MemorizeRequest, NewUtterance, Role, memory_service_client::MemoryServiceClient,
};

const RUNS: usize = 10;
/// How long a server idles before its memory is measured.
const IDLE: Duration = Duration::from_secs(2);

/// The measures of one server.
struct Start {
    announced: Duration,
    first_answer: Duration,
    /// The first Memorize, from call to response, directly after the first response.
    first_memorize: Duration,
    resident: u64,
    of_it_files: u64,
}

/// One of the times of a start.
type Time = fn(&Start) -> Duration;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let nothing = median((0..RUNS).map(|_| of_nothing()).collect());
    let starts: Vec<Start> = (0..RUNS).map(|_| runtime.block_on(start())).collect();
    println!("a process that does nothing, from its start to its end: {:.1} ms", ms(nothing));
    let rows: [(&str, Time); 3] = [
        ("announced", |start| start.announced),
        ("first answer, of GetCapacityInfo", |start| start.first_answer),
        ("first Memorize, right behind it", |start| start.first_memorize),
    ];
    for (name, of) in rows {
        let took = median(starts.iter().map(of).collect());
        println!("{name:34} {:6.1} ms   × {:.0}", ms(took), ms(took) / ms(nothing));
    }
    let memory = |of: fn(&Start) -> u64| mib(median(starts.iter().map(of).collect()));
    let (resident, files) = (memory(|start| start.resident), memory(|start| start.of_it_files));
    println!("resident after {IDLE:?} without a call {resident:.1} MiB, {files:.1} of it pages of files");
}

fn of_nothing() -> Duration {
    let begin = Instant::now();
    Command::new("true").status().expect("a process");
    begin.elapsed()
}

async fn start() -> Start {
    let directory = tempfile::tempdir().expect("a directory");
    let begin = Instant::now();
    let mut server = spawn(directory.path());
    let address = announced(&mut server);
    let announced = begin.elapsed();
    let mut memory = connect(&address).await;
    memory.get_capacity_info(GetCapacityInfoRequest::default()).await.expect("an answer");
    let first_answer = begin.elapsed();
    let asked = Instant::now();
    memory.memorize(hello()).await.expect("it is stored");
    let first_memorize = asked.elapsed();
    thread::sleep(IDLE);
    let resident = of_status(&server, "VmRSS:");
    let of_it_files = of_status(&server, "RssFile:");
    drop(server.stdin.take());
    server.wait().expect("it ran");
    Start { announced, first_answer, first_memorize, resident, of_it_files }
}

fn spawn(directory: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utterd"));
    command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-parent", "--log", "error"]);
    command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().expect("the server starts")
}

fn announced(server: &mut Child) -> String {
    let mut line = String::new();
    let stdout = server.stdout.take().expect("stdout is piped");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    told["address"].as_str().expect("an address").to_owned()
}

async fn connect(address: &str) -> MemoryServiceClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    MemoryServiceClient::new(endpoint.connect().await.expect("it listens"))
}

fn hello() -> MemorizeRequest {
    let content = "Could you move my flight to Boston from Tuesday to Thursday morning?".to_owned();
    let said = NewUtterance { role: Role::User.into(), content, ..NewUtterance::default() };
    MemorizeRequest { utterances: vec![said], ..MemorizeRequest::default() }
}

/// A line of a process's `/proc` status, in KiB; 0 if it is unavailable.
fn of_status(process: &Child, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
