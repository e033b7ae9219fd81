//! One test for each script, page, store or client; what is missing is shown as ignored, with the reason and the
//! command that installs it.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

/// Tests with their paths.
macro_rules! named {
    ($($test:path),* $(,)?) => { [$((stringify!($test), $test as $crate::Test)),*] };
}

mod clients;
mod conformance;
mod copies;
mod crash;
mod docs;
mod golden;
mod postgres_crash;
mod secrets;
mod summaries;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use support::possible;

/// Tests at the same time: many of them mostly wait.
const THREADS: usize = 6;

/// A test. The error says what is missing here.
type Test = fn() -> Result<(), String>;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let trials = [
        // those that take longest begin first
        postgres_crash::trials(),
        crash::trials(),
        docs::trials(),
        clients::trials(),
        copies::trials(),
        summaries::trials(),
        conformance::trials(),
        golden::trials(),
        // from then on, this process logs everything
        secrets::trials(),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}

fn trials_of(subject: &str, tests: &[(&str, Test)]) -> Vec<Trial> {
    let trial = |&(name, test): &(&str, Test)| possible(format!("{subject}::{name}"), test);
    tests.iter().map(trial).collect()
}
