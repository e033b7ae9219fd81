//! Thousands of random sequences of calls, on a server and on a model that shares no code with
//! it; what they answer is compared, and after each step what must always hold is checked.
//!
//! A sequence that fails is shrunk to a short one and printed, a line a step.
//! `UTTERD_MODEL_CASES` sets how many sequences each test runs, `UTTERD_MODEL_STEPS` how long they
//! are at most, `UTTERD_MODEL_SEED` which ones.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod checks;
mod commands;
mod forms;
mod generate;
mod naive;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod tally;
mod text;

use std::cell::RefCell;

use proptest::{
    prelude::Strategy,
    test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner},
};

use commands::Step;
use run::Run;
use tally::Tally;

/// Sequences of each test, unless the environment asks for others.
const CASES: u32 = 1_000;
/// Steps of a sequence at most, unless the environment asks for others.
const STEPS: usize = 40;

#[test]
fn one_conversation_is_what_the_model_says() {
    check(generate::in_one(most()));
}

#[test]
fn three_conversations_are_what_the_model_says() {
    check(generate::in_three(most()));
}

fn most() -> usize {
    asked("UTTERD_MODEL_STEPS").unwrap_or(STEPS)
}

fn check(sequences: impl Strategy<Value = Vec<Step>>) {
    let config = Config {
        cases: asked("UTTERD_MODEL_CASES").unwrap_or(CASES),
        rng_algorithm: RngAlgorithm::XorShift, // fast without optimisation too
        rng_seed: RngSeed::Fixed(asked("UTTERD_MODEL_SEED").unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let (enough, tally) = (config.cases >= CASES, RefCell::new(Tally::default()));
    let outcome = TestRunner::new(config).run(&sequences, |steps| {
        tally.borrow_mut().add(&run(&steps).map_err(TestCaseError::fail)?);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{}", told(&error));
    }
    println!("{:?}", tally.borrow());
    if enough {
        tally.borrow().check().unwrap();
    }
}

fn run(steps: &[Step]) -> Result<Tally, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Run::of(steps))
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
