//! What durability costs: the durable stores compared with the memory store and the bare disk.
//!
//! `cargo bench --bench store` starts a server for each store as a separate process, loads them from this
//! one, and prints ratios and a table of the stores. Compared rounds alternate, because the speed of a disk's
//! flushes varies; each figure is the median of its rounds. Arguments: the engines to measure (`fjall`,
//! `sled`; both by default), and `quick` for a third of the rounds and stores of a tenth of the size.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

#[allow(dead_code, reason = "the bench of calls counts instructions too")]
#[path = "../rpc/child.rs"]
mod child;
#[allow(dead_code, reason = "only the server's side is needed")]
#[path = "../rpc/empty.rs"]
mod empty;
mod filled;
#[path = "../rpc/load.rs"]
mod load;
#[allow(dead_code, reason = "other benches compare processor time")]
#[path = "../rpc/measured.rs"]
mod measured;
mod raw;
mod report;
#[allow(dead_code, reason = "the other bench sends more")]
#[path = "../rpc/requests.rs"]
mod requests;
mod rounds;
mod texts;

use std::time::Duration;

use utterd::store::durable::EngineKind;

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    match arguments.peek().map(String::as_str) {
        Some(child::SERVE) => child::serve(arguments.skip(1)),
        _ => report::run(&Plan::of(arguments)),
    }
}

/// What to measure, and for how long.
struct Plan {
    engines: Vec<EngineKind>,
    rounds: usize,
    round: Duration,
    /// Conversations, each with [`filled::UTTERANCES`], of a store to open.
    conversations: usize,
}

impl Plan {
    fn of(arguments: impl Iterator<Item = String>) -> Self {
        let mut plan = Self {
            engines: Vec::new(),
            rounds: 9,
            round: Duration::from_millis(1_000),
            conversations: 100_000,
        };
        // cargo passes a flag of its own
        for argument in arguments.filter(|argument| !argument.starts_with("--")) {
            match argument.as_str() {
                "quick" => (plan.rounds, plan.conversations) = (3, 10_000),
                engine => plan.engines.push(engine.parse().expect("fjall, sled or quick")),
            }
        }
        if plan.engines.is_empty() {
            plan.engines = EngineKind::ALL.to_vec();
        }
        plan
    }
}

/// A directory on the disk that holds the build, removed when dropped.
fn directory() -> tempfile::TempDir {
    tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// The settings of a server over the store `engine` in `directory`, or over the memory store without an
/// engine.
fn settings(engine: Option<EngineKind>, directory: &tempfile::TempDir, flush: &str) -> Vec<String> {
    let backend = engine.map_or("memory", EngineKind::name);
    let directory = directory.path().display();
    vec![format!("backend={backend}"), format!("data_dir={directory}"), format!("flush={flush}")]
}

/// The name of a store in tables.
fn name(engine: Option<EngineKind>) -> &'static str {
    engine.map_or("memory", EngineKind::name)
}
