//! The services as a client sees them, over a pipe in memory.

#[path = "../support/mod.rs"]
mod support;

mod memorize;
