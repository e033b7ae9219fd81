//! Test helpers: outcomes, and commits with a single outcome.

use std::sync::Arc;

use crate::{
    domain::{ConversationId, Namespace, Ranges, RequestId, Revision, Timestamp, capacity::Capacity},
    store::{Commit, Outcome, OutcomeKey},
};

/// The key of outcome `id`.
pub(super) fn key(id: usize) -> OutcomeKey {
    let request = RequestId::new(&id.to_string()).unwrap();
    OutcomeKey { namespace: Namespace::default(), rpc: "Memorize", request }
}

/// A commit with a single outcome.
pub(super) fn keeping(id: usize) -> Commit {
    let capacity = Capacity {
        utterances: 0,
        forgotten: 0,
        turns: 0,
        tokens: 0,
        max_utterances: None,
        max_tokens: None,
        max_turns: None,
        keep_utterances: None,
        keep_tokens: None,
        keep_turns: None,
        over_limit: Vec::new(),
        archived: 0,
        summary_tokens: 0,
        summary_limit: None,
        segments: 0,
        covered: 0,
        provisional: 0,
        advice: None,
    };
    let outcome = outcome(ConversationId::new("c").unwrap(), Timestamp(1), Revision(1), capacity);
    Commit { outcomes: vec![(key(id), Arc::new(outcome))], ..Commit::default() }
}

/// The outcome of a call that changed nothing.
pub(super) fn outcome(
    conversation: ConversationId,
    time: Timestamp,
    revision: Revision,
    capacity: Capacity,
) -> Outcome {
    Outcome {
        body: 1,
        time,
        conversation,
        revision,
        started: false,
        ended: None,
        memorized: Ranges::new(),
        evicted: Ranges::new(),
        forgotten: Ranges::new(),
        restored: Ranges::new(),
        target: None,
        still_told: Ranges::new(),
        rebuilt_segments: 0,
        capacity,
        references: Vec::new(),
        in_forks: None,
    }
}
