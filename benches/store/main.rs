//! What durability costs: the durable stores beside the memory store and the bare disk.
//!
//! `cargo bench --bench store` starts a server for each store as a process of its own, loads them
//! from this one, and prints ratios and a table of the stores. Rounds of what is compared
//! alternate, because a disk's flushes are now fast and now slow; each figure is the median of its
//! rounds. Arguments: the engines to measure (`fjall`, `sled`; both by default), and `quick` for a
//! third of the rounds and stores of a tenth.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and may end.

#[path = "../rpc/child.rs"]
mod child;
#[allow(dead_code, reason = "only the server's side is needed")]
#[path = "../rpc/empty.rs"]
mod empty;
mod filled;
#[path = "../rpc/load.rs"]
mod load;
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

/// As the server's own program has it.
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
    /// Conversations, of [`filled::UTTERANCES`] each, of a store that is opened.
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

/// A directory on the disk that the bench is built on, which is removed when it is dropped.
fn directory() -> tempfile::TempDir {
    tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// The settings of a server over the store `engine` in `directory`; over the memory store when
/// there is no engine.
fn settings(engine: Option<EngineKind>, directory: &tempfile::TempDir, flush: &str) -> Vec<String> {
    let backend = engine.map_or("memory", EngineKind::name);
    let directory = directory.path().display();
    vec![format!("backend={backend}"), format!("data_dir={directory}"), format!("flush={flush}")]
}

/// The name of a store in tables.
fn name(engine: Option<EngineKind>) -> &'static str {
    engine.map_or("memory", EngineKind::name)
}
