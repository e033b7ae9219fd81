//! The outcome of a named attempt of a call.

use crate::{
    domain::{capacity::Capacity, compaction::Advice},
    store::Outcome,
};

use super::{
    Fault,
    field::{Field, Message, message},
    fields::Fields,
    payload::Payload,
};

message! {
    Outcome {
        // Takes two fields: 1 and 2.
        1 body: "the hash of the body",
        3 time: "the time",
        4 conversation: "the conversation",
        5 revision: "the revision",
        6 started: "whether it started",
        7 memorized: "the memorized ranges",
        8 evicted: "the evicted ranges",
        9 forgotten: "the forgotten ranges",
        10 restored: "the restored ranges",
        11 target: "the target",
        12 rebuilt_segments: "the rebuilt segments",
        13 capacity: "the capacity",
        14 ended: "the conversation that ended",
        15 still_told: "the ranges still in the summary",
    }
}

message! {
    Capacity {
        1 utterances: "the utterances",
        2 forgotten: "the forgotten utterances",
        3 turns: "the turns",
        4 tokens: "the tokens",
        5 max_utterances: "the maximum of utterances",
        6 max_tokens: "the maximum of tokens",
        7 max_turns: "the maximum of turns",
        8 over_limit: "a cause of being over the limit",
        9 archived: "the archived utterances",
        10 summary_tokens: "the tokens of the summary",
        11 summary_limit: "the limit of the summary",
        12 segments: "the segments",
        13 covered: "the covered utterances",
        14 provisional: "the provisional segments",
        15 advice: "the advice",
        16 keep_utterances: "the utterances to keep",
        17 keep_tokens: "the tokens to keep",
        18 keep_turns: "the turns to keep",
    }
}

message! {
    Advice {
        1 threshold: "the threshold",
        2 utterances: "the utterances at the advice",
    }
}
