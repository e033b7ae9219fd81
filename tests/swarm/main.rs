//! Every RPC, found through the descriptors, with random fields and real texts of a byte to 60 kB, on each backend.
//!
//! Requests adapt: what a refusal names is given or removed, and ids, page tokens, revisions and exports come from
//! earlier answers. No answer may be the server's fault, nothing may panic, each RPC must succeed now and then, and
//! each conversation's capacity must be what is listed.
//!
//! Each run has another seed, which is printed. `UTTERD_SWARM_SEED` repeats a run, and `UTTERD_SWARM_CALLS` sets the
//! calls on each backend. With `--nocapture`, a test prints its calls by outcome, and the slowest one.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod audit;
mod call;
#[path = "../simulation/dice.rs"]
#[allow(dead_code)] // each test uses its part
mod dice;
mod maker;
mod mend;
mod panics;
mod seen;
#[path = "../support/mod.rs"]
mod support;
mod swarm;
mod texts;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    process::ExitCode,
};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{
    ManualClock, asked,
    schema::{self, Schema},
};
use swarm::Swarm;
use utterd::{
    config::{Backend, DurableEngine, Settings},
    server::Server,
};

/// Calls on each backend, unless the environment sets another number.
const CALLS: u64 = 400;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let run = Run {
        seed: asked("UTTERD_SWARM_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish()),
        calls: asked("UTTERD_SWARM_CALLS").unwrap_or(CALLS),
        tells: arguments.nocapture,
    };
    if !arguments.list {
        println!("{}", run.again());
    }
    panics::watch();
    let trials = vec![
        Trial::test("memory", move || run.over(Settings::default())),
        Trial::test("fjall", move || run.in_files(DurableEngine::Fjall)),
        Trial::test("sled", move || run.in_files(DurableEngine::Sled)),
        schema::trial("postgres".to_owned(), move |cluster| {
            let schema = Schema::new(cluster);
            run.over(schema.settings(&Settings::default())).unwrap_or_else(|failed| {
                panic!("{}", failed.message().unwrap_or_default());
            });
        }),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

#[derive(Clone, Copy)]
struct Run {
    seed: u64,
    calls: u64,
    tells: bool,
}

impl Run {
    fn in_files(self, engine: DurableEngine) -> Result<(), Failed> {
        let directory = tempfile::tempdir().expect("a directory");
        let (backend, data_dir) = (Backend::Durable(engine), directory.path().to_owned());
        self.over(Settings { backend, data_dir, ..Settings::default() })
    }

    fn over(self, settings: Settings) -> Result<(), Failed> {
        // like a worker of the server
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let clock = ManualClock::new();
            let server = Server::new(&settings, clock.clone()).expect("the settings go together");
            let mut swarm = Swarm::new(server, clock, self.seed).await;
            swarm.call_all(self.calls).await;
            swarm.audit().await;
            if self.tells {
                println!("{:?}\n{}", settings.backend, swarm.told());
            }
            let faults = swarm.faults().await;
            if faults.is_empty() { Ok(()) } else { Err(format!("{faults}\n{}", self.again()).into()) }
        })
    }

    /// How to repeat the run.
    fn again(self) -> String {
        let Self { seed, calls, .. } = self;
        format!("UTTERD_SWARM_SEED={seed} UTTERD_SWARM_CALLS={calls} cargo test --features full --test swarm")
    }
}
