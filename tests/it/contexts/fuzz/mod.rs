//! Contexts of random conversations: whatever was said, left the window, was forgotten, pinned, edited or
//! compacted, a context is one that the provider accepts, within its budget, counted as documented, and the
//! same when it is built again.
//!
//! `UTTERD_CONTEXT_CASES` sets the number of conversations. A failing one is shrunk and printed, one line per
//! step.

mod asks;
mod check;
mod said;
mod steps;
mod world;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner};

use steps::Step;
use world::World;

/// Conversations, unless the environment sets another number: two thousand contexts.
const CASES: u32 = 250;

/// The results of the requested contexts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    built: u32,
    refused: u32,
    cut: u32,
    recalled: u32,
    /// With utterances of another conversation.
    continued: u32,
    led: u32,
    late: u32,
}

#[test]
fn contexts_of_any_conversation_are_accepted_and_within_their_budget() {
    let config = Config {
        cases: cases(),
        rng_algorithm: RngAlgorithm::XorShift, // fast even without optimisation
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let tally = RefCell::new(Tally::default());
    let outcome = TestRunner::new(config)
        .run(&steps::sequences(), |steps| run(&steps, &mut tally.borrow_mut()).map_err(TestCaseError::fail));
    if let Err(error) = outcome {
        panic!("{}", told(&error));
    }
    let tally = tally.into_inner();
    println!("{tally:?}");
    let Tally { built, refused, cut, recalled, continued, led, late } = tally;
    assert!(late > 0, "{tally:?}");
    assert!([refused, cut, recalled, continued, led].iter().all(|some| some * 100 > built), "{tally:?}");
}

fn cases() -> u32 {
    const VARIABLE: &str = "UTTERD_CONTEXT_CASES";
    match std::env::var(VARIABLE) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{VARIABLE} is {value:?}, which is no number")),
        Err(_) => CASES,
    }
}

fn run(steps: &[Step], tally: &mut Tally) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut world = World::new();
        for (number, step) in (1..).zip(steps) {
            world.take(step, tally).await.map_err(|error| format!("step {number}: {error}"))?;
        }
        Ok(())
    })
}

fn told(error: &TestError<Vec<Step>>) -> String {
    match error {
        TestError::Abort(reason) => format!("given up: {reason}"),
        TestError::Fail(reason, steps) => {
            let lines = (1..).zip(steps).map(|(number, step)| format!("{number:3}  {step:?}\n"));
            format!("\n{}\n{reason}\n", lines.collect::<String>())
        }
    }
}
