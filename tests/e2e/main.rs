//! The binary as a person uses it, and what needs a process without other servers.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../support/mod.rs"]
mod support;

mod chat;
mod cli;
mod connections;
mod full_disk;
mod inspector;
mod logs;
mod mcp;
mod packaging;
mod panics;
mod traces;
