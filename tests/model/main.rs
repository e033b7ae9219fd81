//! Runs many hundreds of random sequences of calls on a server and on a model that shares no code with it,
//! compares their responses, and checks the invariants after each step.
//!
//! They run over each store. Over a durable one, each sequence has its own directory, and the server is
//! restarted on it now and then, which the model does not see. Nor does it see that there can be two servers
//! over one store: each command goes to one of them, and its effect is read on both.
//!
//! A failing sequence is shrunk to a short one and printed, one line per step. `UTTERD_MODEL_CASES` sets how
//! many sequences each test runs in memory (a durable store and two servers run a part of them),
//! `UTTERD_MODEL_STEPS` their maximum length, and `UTTERD_MODEL_SEED` which ones are run.
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

use std::cell::RefCell;

use proptest::{
    strategy::BoxedStrategy,
    test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner},
};

use commands::Step;
use generate::Shape;
use run::{Over, Place, Run};
use tally::Tally;
use utterd::config::DurableEngine;

/// Sequences per test, unless the environment sets another number.
const CASES: u32 = 400;
/// A durable store runs one sequence for this many in memory.
const DURABLE_SHARE: u32 = 6;
/// Two servers run one sequence for this many in memory.
const SHARED_SHARE: u32 = 2;
/// Maximum steps of a sequence, unless the environment sets another number.
const STEPS: usize = 40;

macro_rules! on_each_store {
    ($($name:ident: $over:expr,)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn one_conversation_is_what_the_model_says() {
                check($over, generate::in_one);
            }

            #[test]
            fn three_conversations_are_what_the_model_says() {
                check($over, generate::in_three);
            }
        }
    )*};
}

on_each_store! {
    in_memory: Over::Memory,
    on_fjall: Over::Files(DurableEngine::Fjall),
    on_sled: Over::Files(DurableEngine::Sled),
    on_two_engines: Over::Two,
}

fn check(over: Over, sequences: fn(Shape) -> BoxedStrategy<Vec<Step>>) {
    let (restarts, engines, share) = match over {
        Over::Memory => (false, 1, 1),
        Over::Files(_) => (true, 1, DURABLE_SHARE),
        Over::Two => (true, 2, SHARED_SHARE),
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
    let (enough, tally) = (config.cases >= CASES.div_ceil(share), RefCell::new(Tally::default()));
    let directories = tempfile::tempdir().unwrap();
    let outcome = TestRunner::new(config).run(&sequences, |steps| {
        let place = Place::of(over, directories.path());
        tally.borrow_mut().add(&run(&steps, place).map_err(TestCaseError::fail)?);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}", told(&error));
    }
    println!("{:?}", tally.borrow());
    if enough {
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
