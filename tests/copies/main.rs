//! Backups of every backend, restored to every other, and what `verify` finds in PostgreSQL.
//!
//! - [`round_trips`]: what every kind of life leaves is restored and the same.
//! - [`attempts`]: restores to a schema are interrupted, and refused if they do not fit.
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
