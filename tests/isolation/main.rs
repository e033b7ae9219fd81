//! One namespace cannot see, count, watch or change what is another's.
//!
//! The strongest of these is a comparison of two servers: in one, Anna has filled her namespace; in the
//! other she was never there. Whatever others call by the names of her things, both answer the same, byte by
//! byte. What no answer shows may still show in how long it takes: so a store tells of which namespaces it was
//! asked while others called.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a test that fails panics: that is its report

#[path = "../support/model.rs"]
mod model;
#[path = "../support/mod.rs"]
mod support;

mod anna;
mod cases;
mod watched;
mod wire;
mod world;

mod every_call;
mod models;
mod shares;
mod side_by_side;
