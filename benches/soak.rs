//! A server under mixed load for a long time, stopped or killed now and then: what grows?
//!
//! `cargo bench --bench soak -- --minutes 30` starts the server with files, loads it from this process,
//! samples its memory, descriptors, threads and files, and prints their values at the start and the end of
//! the run, and their growth per hour. The amount of stored data stays about the same: recipients are deleted
//! when they have said enough.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::time::sleep;
use tonic::{Code, Status, transport::Channel};
use utterd::proto::{
    self, compaction_service_client::CompactionServiceClient, context_service_client::ContextServiceClient,
    conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
};

/// Concurrent callers.
const CALLERS: u64 = 16;
/// Recipients per caller.
const RECIPIENTS: u64 = 24;
/// Utterances of a recipient before it is deleted.
const ENOUGH: u32 = 400;
/// How long a server runs before it is stopped or killed.
const LIFE: Duration = Duration::from_secs(180);
/// What a server uses at its start is ignored.
const WARM_UP: Duration = Duration::from_secs(30);
const SAMPLE_INTERVAL: Duration = Duration::from_secs(2);

fn main() {
    let minutes = minutes();
    let directory = tempfile::tempdir().expect("a directory");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let soaked = runtime.block_on(soak(directory.path(), Duration::from_secs(minutes * 60)));
    soaked.print(minutes);
}

/// The value of `--minutes`, 30 by default.
fn minutes() -> u64 {
    let arguments: Vec<String> = std::env::args().collect();
    let given = arguments.iter().position(|argument| argument == "--minutes");
    let given = given.and_then(|place| arguments.get(place + 1));
    given.map_or(30, |minutes| minutes.parse().expect("--minutes takes a whole number"))
}

async fn soak(directory: &Path, duration: Duration) -> Soaked {
    let (started, mut soaked) = (Instant::now(), Soaked::default());
    while started.elapsed() < duration {
        let mut server = Server::start(directory);
        soaked.lives += 1;
        let counts = work(&server, started, duration, &mut soaked.samples).await;
        soaked.counts.iter_mut().zip(counts).for_each(|(all, more)| *all += more);
        match soaked.lives % 3 {
            0 => server.kill(),
            _ => server.end(),
        }
    }
    soaked
}

/// Loads one server during its life; returns how many calls were answered, refused, and not answered.
async fn work(server: &Server, started: Instant, most: Duration, samples: &mut Vec<Sample>) -> [u64; 3] {
    let over = Arc::new(AtomicBool::new(false));
    let counts = Arc::new(Mutex::new([0; 3]));
    let callers: Vec<_> = (0..CALLERS)
        .map(|number| {
            let caller = Caller::new(number, server, over.clone(), counts.clone());
            tokio::spawn(caller.work())
        })
        .collect();
    let born = Instant::now();
    while born.elapsed() < LIFE && started.elapsed() < most {
        sleep(SAMPLE_INTERVAL).await;
        if born.elapsed() > WARM_UP {
            samples.push(server.sample(started.elapsed()));
        }
    }
    over.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.expect("a caller comes to its end");
    }
    *counts.lock()
}

/// The result of a run.
#[derive(Default)]
struct Soaked {
    lives: u32,
    /// Calls that were answered, refused, and not answered.
    counts: [u64; 3],
    samples: Vec<Sample>,
}

/// What a server uses at one moment.
struct Sample {
    at: Duration,
    figures: [f64; 4],
}

const FIGURES: [&str; 4] = ["resident memory, MiB", "descriptors", "threads", "files, MiB"];

impl Soaked {
    fn print(&self, minutes: u64) {
        let [answered, refused, unanswered] = self.counts;
        println!("{minutes} minutes, {} servers one after the other", self.lives);
        println!("{answered} calls answered, {refused} refused, {unanswered} not answered\n");
        println!("| | first tenth | last tenth | most | an hour adds |\n|---|---|---|---|---|");
        for (index, name) in FIGURES.iter().enumerate() {
            let figure = |sample: &Sample| sample.figures[index];
            let tenth = (self.samples.len() / 10).max(1);
            let first = mean(self.samples.iter().take(tenth).map(figure));
            let last = mean(self.samples.iter().rev().take(tenth).map(figure));
            let most = self.samples.iter().map(figure).fold(0.0, f64::max);
            let slope =
                slope(self.samples.iter().map(|sample| (sample.at.as_secs_f64() / 3_600.0, figure(sample))));
            println!("| {name} | {first:.1} | {last:.1} | {most:.1} | {slope:+.1} |");
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / f64::max(count, 1.0)
}

/// The slope of the least-squares line through the points.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let x = mean(points.clone().map(|(x, _)| x));
    let y = mean(points.clone().map(|(_, y)| y));
    let (above, below) = points.fold((0.0, 0.0), |(above, below), (at, value)| {
        (above + (at - x) * (value - y), below + (at - x) * (at - x))
    });
    if below == 0.0 { 0.0 } else { above / below }
}

/// A server process, killed when it is dropped.
struct Server {
    process: Child,
    address: String,
    directory: std::path::PathBuf,
    // Kept open: a server whose stdout is closed cannot print.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    fn start(directory: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_utterd"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--backend", "fjall"]);
        command.args(["--scrub-interval", "5m"]).arg("--data-dir").arg(directory);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the server is read");
        let (_, address) = line.split_once("listening on ").expect("the server listens");
        let address = format!("http://{}", address.trim());
        Self { process, address, directory: directory.to_owned(), _stdout: stdout }
    }

    fn sample(&self, at: Duration) -> Sample {
        let place = format!("/proc/{}", self.process.id());
        let status = fs::read_to_string(format!("{place}/status")).expect("Linux tells of processes");
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|line| line.split_whitespace().next());
            value.and_then(|value| value.parse::<f64>().ok()).expect("a number")
        };
        let descriptors = fs::read_dir(format!("{place}/fd")).expect("Linux tells of descriptors").count();
        let files = bytes(&self.directory) as f64 / f64::from(1 << 20);
        Sample { at, figures: [number("VmRSS:") / 1_024.0, descriptors as f64, number("Threads:"), files] }
    }

    /// Asks it to end, and waits until it has.
    fn end(&mut self) {
        let asked = Command::new("kill").arg("-TERM").arg(self.process.id().to_string()).status();
        assert!(asked.expect("kill is there").success(), "the server is there");
        assert!(self.process.wait().expect("it ends").success(), "the server ends well");
    }

    fn kill(&mut self) {
        // It might have exited by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The size in bytes of the files in a directory; files removed meanwhile are skipped.
fn bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// A caller with its own recipients that makes all kinds of calls in turn.
struct Caller {
    number: u64,
    address: String,
    said: BTreeMap<u64, u32>,
    random: u64,
    over: Arc<AtomicBool>,
    counts: Arc<Mutex<[u64; 3]>>,
}

impl Caller {
    fn new(number: u64, server: &Server, over: Arc<AtomicBool>, counts: Arc<Mutex<[u64; 3]>>) -> Self {
        let random = 0x9E37_79B9_7F4A_7C15 ^ (number + 1);
        Self { number, address: server.address.clone(), said: BTreeMap::new(), random, over, counts }
    }

    async fn work(mut self) {
        while !self.over.load(Ordering::Relaxed) {
            let endpoint = Channel::from_shared(self.address.clone()).expect("an address");
            let Ok(channel) = endpoint.connect().await else { return };
            // connections come and go
            for _ in 0..500 {
                if self.over.load(Ordering::Relaxed) {
                    return;
                }
                let index = match self.call(&channel).await {
                    Ok(()) => 0,
                    Err(status) if status.code() == Code::Unavailable => 2,
                    Err(_) => 1,
                };
                self.counts.lock()[index] += 1;
            }
        }
    }

    async fn call(&mut self, channel: &Channel) -> Result<(), Status> {
        let which = self.below(RECIPIENTS);
        let recipient_id = format!("recipient-{}-{which}", self.number);
        if self.said.get(&which).is_some_and(|said| *said > ENOUGH) {
            self.said.remove(&which);
            let request = proto::DeleteRecipientRequest { recipient_id };
            return ConversationServiceClient::new(channel.clone()).delete_recipient(request).await.map(drop);
        }
        let mut memory = MemoryServiceClient::new(channel.clone());
        match self.below(100) {
            0..60 => {
                *self.said.entry(which).or_default() += 1;
                let utterances = vec![self.said()];
                let request = proto::MemorizeRequest { recipient_id, utterances, ..Default::default() };
                memory.memorize(request).await.map(drop)
            }
            60..68 => {
                let request = proto::RememberRequest {
                    recipient_id,
                    prompt: "part 17 fails".into(),
                    ..Default::default()
                };
                memory.remember(request).await.map(drop)
            }
            68..80 => {
                let request = proto::BuildContextRequest { recipient_id, ..Default::default() };
                ContextServiceClient::new(channel.clone()).build_context(request).await.map(drop)
            }
            80..86 => {
                let request = proto::GetCapacityInfoRequest { recipient_id, ..Default::default() };
                memory.get_capacity_info(request).await.map(drop)
            }
            86..90 => {
                let request = proto::SummarizeRequest { recipient_id, ..Default::default() };
                memory.summarize(request).await.map(drop)
            }
            90..96 => {
                let mode = [proto::ForgetMode::Soft, proto::ForgetMode::Hard][self.below(2) as usize];
                let (instructions, mode) = ("oldest".into(), mode.into());
                let request = proto::ForgetRequest { recipient_id, instructions, mode, ..Default::default() };
                memory.forget(request).await.map(drop)
            }
            96..98 => {
                let request = proto::CompactConversationRequest { recipient_id, ..Default::default() };
                CompactionServiceClient::new(channel.clone()).compact_conversation(request).await.map(drop)
            }
            _ => {
                let request = proto::EndConversationRequest { recipient_id, ..Default::default() };
                ConversationServiceClient::new(channel.clone()).end_conversation(request).await.map(drop)
            }
        }
    }

    fn said(&mut self) -> proto::NewUtterance {
        let words = self.below(120) as usize + 3;
        let part = self.below(1_000);
        let content =
            format!("Part {part} fails in src/part_{part}.rs. {}", "What do we do next? ".repeat(words / 5));
        proto::NewUtterance { role: proto::Role::User.into(), content, ..Default::default() }
    }

    /// A number below `most`, by xorshift.
    fn below(&mut self, most: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % most
    }
}
