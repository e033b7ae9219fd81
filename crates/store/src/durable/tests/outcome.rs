//! Test helpers: commits with a single outcome.

use crate::{
    Commit, OutcomeKey,
    conformance::support::values::{self, RECIPIENT, attempt, identity, outcome},
};
use utterd_domain::{Conversation, Policy, Timestamp};

/// The key of outcome `id`.
pub fn key(id: usize) -> OutcomeKey {
    attempt(&id.to_string())
}

/// A commit with a single outcome.
pub fn keeping(id: usize) -> Commit {
    let conversation = Conversation::new(identity(values::key("c"), RECIPIENT), Policy::ROLLING);
    Commit { outcomes: vec![(key(id), outcome(&conversation, Timestamp(1)))], ..Commit::default() }
}
