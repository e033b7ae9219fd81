//! What is tested in one process: the parts of the library, and servers at the end of in-memory pipes.
//!
//! A module is a subject: `cargo test --test it rpc::`. What is global in a process, such as the panic hook or
//! the current directory, is left alone here; see `tests/e2e` and `tests/cases`.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod contexts;
mod durable;
mod examples;
mod forget_grammar;
mod formats;
mod guard;
mod isolation;
mod protos;
mod recall;
mod rpc;
mod summarizer;
mod tokenizer;
mod trailers;
