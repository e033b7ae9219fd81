//! Runs many hundreds of random sequences of calls on a server and on a model that shares no code with it,
//! compares their responses, and checks the invariants after each step.
//!
//! They run over each store. Over a durable one, each sequence has its own directory or schema, and the server
//! is restarted on it now and then, which the model does not see. Nor does it see that there can be two
//! servers over one store: each command goes to one of them, and its effect is read on both.
//!
//! A failing sequence is shrunk to a short one and printed, one line per step. `UTTERD_MODEL_CASES` sets how
//! many sequences each test runs in memory (a durable store runs a part of them), `UTTERD_MODEL_STEPS` their
//! maximum length, and `UTTERD_MODEL_SEED` which ones are run. With `--nocapture`, each test prints how often the
//! interesting cases occurred.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod checks;
mod commands;
mod forms;
mod generate;
mod naive;
mod run;
#[path = "../support/shared.rs"]
mod shared;
#[path = "../support/mod.rs"]
mod support;
mod tally;
mod text;

use std::{cell::RefCell, process::ExitCode};

use libtest_mimic::{Arguments, Trial};
use proptest::{
    strategy::BoxedStrategy,
    test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner},
};

use commands::Step;
use generate::Shape;
use run::{Over, Place, Run};
use support::{postgres::Cluster, schema};
use tally::Tally;
use utterd::config::DurableEngine;

/// Sequences per test, unless the environment sets another number.
const CASES: u32 = 200;
/// A durable store runs one sequence for this many in memory.
const DURABLE_SHARE: u32 = 3;
/// PostgreSQL runs one sequence for this many in memory: a schema alone takes longer than most sequences.
const POSTGRES_SHARE: u32 = 10;
/// Maximum steps of a sequence, unless the environment sets another number.
const STEPS: usize = 40;

/// Makes the sequences of a test.
type Sequences = fn(Shape) -> BoxedStrategy<Vec<Step>>;

const TESTS: [(&str, Sequences); 2] = [
    ("one_conversation_is_what_the_model_says", generate::in_one),
    ("three_conversations_are_what_the_model_says", generate::in_three),
];

const STORES: [(&str, Over); 4] = [
    ("in_memory", Over::Memory),
    ("on_fjall", Over::Files(DurableEngine::Fjall)),
    ("on_sled", Over::Files(DurableEngine::Sled)),
    ("on_two_engines", Over::Two),
];

/// Makes a store of PostgreSQL.
type OverCluster = fn(&'static Cluster) -> Over;

const DATABASES: [(&str, OverCluster); 2] =
    [("on_postgres", Over::Postgres), ("on_two_servers_of_postgres", Over::TwoOfPostgres)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tells = arguments.nocapture;
    let mut trials = Vec::new();
    for (test, sequences) in TESTS {
        trials.extend(STORES.map(|(store, over)| {
            Trial::test(format!("{store}::{test}"), move || {
                check(over, sequences, tells);
                Ok(())
            })
        }));
        trials.extend(DATABASES.map(|(store, over)| {
            schema::trial(format!("{store}::{test}"), move |cluster| check(over(cluster), sequences, tells))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(over: Over, sequences: Sequences, tells: bool) {
    // with enough sequences, each of the interesting cases must occur
    let (restarts, engines, share, enough) = match over {
        Over::Memory => (false, 1, 1, CASES),
        Over::Files(_) => (true, 1, DURABLE_SHARE, CASES.div_ceil(DURABLE_SHARE)),
        Over::Two => (true, 2, 1, CASES),
        Over::Postgres(_) => (true, 1, POSTGRES_SHARE, CASES),
        Over::TwoOfPostgres(_) => (true, 2, POSTGRES_SHARE, CASES),
    };
    let most = asked("UTTERD_MODEL_STEPS").unwrap_or(STEPS);
    let sequences = sequences(Shape { most, restarts, engines });
    let config = Config {
        cases: asked("UTTERD_MODEL_CASES").unwrap_or(CASES).div_ceil(share),
        rng_algorithm: RngAlgorithm::XorShift, // fast even without optimisation
        rng_seed: RngSeed::Fixed(asked("UTTERD_MODEL_SEED").unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let (is_enough, tally) = (config.cases >= enough, RefCell::new(Tally::default()));
    let directories = tempfile::tempdir().unwrap();
    let outcome = TestRunner::new(config).run(&sequences, |steps| {
        let place = Place::of(over, directories.path());
        tally.borrow_mut().add(&run(&steps, place).map_err(TestCaseError::fail)?);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}", told(&error));
    }
    if tells {
        println!("{:?}", tally.borrow());
    }
    if is_enough {
        tally.borrow().check(restarts).unwrap();
    }
}

fn run(steps: &[Step], place: Place) -> Result<Tally, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Run::of(steps, place))
}

fn told(error: &TestError<Vec<Step>>) -> String {
    match error {
        TestError::Abort(reason) => format!("given up: {reason}"),
        TestError::Fail(reason, steps) => {
            let lines = (1..).zip(steps).map(|(number, step)| format!("{number:3}  {step}\n"));
            format!("\n{}\n{reason}\n", lines.collect::<String>())
        }
    }
}

fn asked<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}
