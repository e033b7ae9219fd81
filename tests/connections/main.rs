//! Connections of a real server: how many are allowed, and what ends them.
#![allow(clippy::expect_used)] // A test can panic.

#[path = "../support/binary.rs"]
mod binary;
mod client;
mod ending;
mod lifecycle;
mod owned;
mod room;
mod tls;
mod unix;
