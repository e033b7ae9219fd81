//! What goes to a model is accepted by its provider.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a failed test panics: that is its report
#![allow(dead_code)] // the bench of the same name uses the rest

mod figures;
mod fuzz;
mod prepare_history;
mod replay;
mod rules;
#[path = "../support/mod.rs"]
mod support;
mod transcripts;
mod validator;
