//! What a slow model costs writes: nothing, as this bench should show.
//!
//! `cargo bench --bench llm` starts two servers as separate processes, one without a model and one whose
//! model answers after 30 seconds, and memorizes in rolling windows on both, so that about every fourth write
//! leaves a segment waiting for the model. Rounds alternate; a figure is the median of its rounds.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

#[allow(dead_code)] // each bench uses its part
#[path = "../rpc/child.rs"]
mod child;
#[allow(dead_code)]
#[path = "../rpc/empty.rs"]
mod empty;
#[allow(dead_code)]
#[path = "../rpc/load.rs"]
mod load;
#[allow(dead_code)]
#[path = "../rpc/requests.rs"]
mod requests;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use child::ServerProcess;
use load::{Call, unary};

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MODEL_TIME: Duration = Duration::from_secs(30);
const ROUND: Duration = Duration::from_secs(3);
const ROUNDS: usize = 11;
const CONVERSATIONS: usize = 64;
const IN_FLIGHT: usize = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(child::SERVE) => child::serve(arguments),
        _ => run(),
    }
}

fn run() {
    let settings = [
        "llm=openai".to_owned(),
        format!("llm_base_url=http://{}/v1", slow_model()),
        "llm_model=slow".to_owned(),
        "log=error".to_owned(),
    ];
    let (without, with) = (ServerProcess::start(&[]), ServerProcess::start(&settings));
    let mut figures = Vec::new();
    for round in 0..=ROUNDS {
        let pair = [&without, &with].map(|server| figures_of(server, round));
        // the first round fills the windows
        figures.extend((round > 0).then_some(pair));
    }
    println!("Memorize, rolling windows, {IN_FLIGHT} in flight        p50, µs    p99, µs     calls/s");
    for (at, name) in ["without a model", "a model that takes 30 s"].into_iter().enumerate() {
        let [p50, p99, rate] = [0, 1, 2].map(|which| median(figures.iter().map(|pair| pair[at][which])));
        println!("{name:<44} {p50:>9.0}  {p99:>9.0}  {rate:>10.0}");
    }
    let [p50, p99, rate] =
        [0, 1, 2].map(|which| median(figures.iter().map(|pair| pair[1][which] / pair[0][which])));
    println!("{:<44} {p50:>9.2}  {p99:>9.2}  {rate:>10.2}", "with ÷ without, the median of rounds");
}

/// The median and the 99th percentile of a round's response times in µs, and responses per second.
fn figures_of(server: &ServerProcess, round: usize) -> [f64; 3] {
    let names = (0..CONVERSATIONS).map(|number| format!("conversation {number}"));
    let requests = names.map(|name| requests::memorize(&name, round, 1)).collect();
    let call = Call { path: requests::MEMORIZE, requests: Arc::new(requests) };
    let answers = unary(&server.address, &call, IN_FLIGHT, ROUND);
    let mut times = answers.times.clone();
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    [at(50), at(99), answers.a_second()]
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The address of a chat completion server that answers each request slowly.
fn slow_model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer_late(stream));
        }
    });
    address
}

fn answer_late(mut stream: TcpStream) {
    let mut buffer = [0; 1 << 16];
    let _ = stream.read(&mut buffer);
    thread::sleep(MODEL_TIME);
    let body = r#"{"model":"slow","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"- Flights were moved."}}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
}
