//! Connections of a real server: how many there may be, and what ends them.
#![allow(clippy::expect_used)] // What a test cannot go on without may end it.

#[path = "../support/binary.rs"]
mod binary;
mod client;
mod ending;
mod owned;
mod room;
mod tls;
mod unix;
