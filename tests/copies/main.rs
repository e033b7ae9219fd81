//! Copies of stores into PostgreSQL and out of it, and what `verify` finds there.
//!
//! - [`round_trips`]: what every kind of life leaves is copied into files and back.
//! - [`attempts`]: copies are interrupted and continued, and refused if they do not fit.
//! - [`damage`]: each wrong record and column is named.
//! - [`commands`]: all of it as a person does it, while a server writes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod attempts;
#[path = "../support/binary.rs"]
mod binary;
mod commands;
mod damage;
mod home;
mod round_trips;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(round_trips::trials());
    trials.extend(attempts::trials());
    trials.extend(damage::trials());
    trials.extend(commands::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
