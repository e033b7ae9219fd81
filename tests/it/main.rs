//! What is tested in one process: the parts of the library, and servers at the end of in-memory pipes.
//!
//! A module is a subject: `cargo test --features full --test it rpc::`. What is global in a process, such as the panic hook or
//! the current directory, is left alone here; see `tests/e2e` and `tests/cases`.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

/// Runs tests of a file on the other stores too.
///
/// They are chosen: the store takes part in them by more than what its conformance suite asks for. Where there is no
/// PostgreSQL, a test on it tells so and does nothing, or fails if `CI` is set.
macro_rules! on_each_store {
    ($($test:ident)*) => {
        mod on_fjall {
            $(#[test] fn $test() { $crate::on_files(utterd::config::DurableEngine::Fjall, super::$test); })*
        }
        mod on_sled {
            $(#[test] fn $test() { $crate::on_files(utterd::config::DurableEngine::Sled, super::$test); })*
        }
        mod on_postgres {
            $(#[test] fn $test() { $crate::on_postgres(super::$test); })*
        }
    };
}

mod architecture;
mod contexts;
mod durable;
mod examples;
mod formats;
mod guard;
mod isolation;
mod protos;
mod recall;
mod rpc;
mod summarizer;
mod tokenizer;
mod trailers;

use std::{env, io::Write};

use support::{on, postgres};
use utterd::config::{Backend, DurableEngine};

fn on_files(engine: DurableEngine, test: fn()) {
    on(Backend::Durable(engine), test);
}

fn on_postgres(test: fn()) {
    match postgres::shared() {
        Ok(_) => on(Backend::Postgres, test),
        Err(reason) if env::var_os("CI").is_some() => panic!("{reason}"),
        // not with `eprintln!`, which is only shown if a test fails
        Err(reason) => drop(writeln!(std::io::stderr(), "left out: {reason}")),
    }
}
