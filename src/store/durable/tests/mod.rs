//! Tests of the engines, and what the tests of the durable stores need.

pub(super) mod conversation;
mod engine;
pub(super) mod outcome;
