//! `utterd mcp` as its clients meet it: over pipes and over HTTP.
#![allow(clippy::expect_used)] // What a test cannot go on without may end it.

#[path = "../support/binary.rs"]
mod binary;
mod client;
mod conversations;
mod described;
mod documented;
mod ending;
mod forgetting;
mod http;
mod resources;
mod sources;
mod tools;
