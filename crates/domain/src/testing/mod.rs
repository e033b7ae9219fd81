//! What the tests of the rules and of the formats share.
#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used)]

mod steps;
mod talk;

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

pub use steps::{Step, requests, steps};
pub use talk::{Talk, needed};

use crate::{LineageId, Role, Sequence, Timestamp, TokenCounter, Utterance, UtteranceId};

/// An encoding, counted by its reference implementation.
pub struct Reference(CoreBPE);

impl TokenCounter for Reference {
    fn count(&self, text: &str) -> u32 {
        self.0.encode_ordinary(text).len() as u32
    }
}

/// o200k, cl100k, p50k and r50k.
pub static ENCODINGS: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    use tiktoken_rs::{cl100k_base, o200k_base, p50k_base, r50k_base};
    [o200k_base(), cl100k_base(), p50k_base(), r50k_base()].into_iter().flatten().map(Reference).collect()
});

/// The encoding of new conversations.
pub fn o200k() -> &'static Reference {
    &ENCODINGS[0]
}

/// An utterance.
pub fn said(sequence: u64, role: Role, content: &str) -> Utterance {
    Utterance {
        sequence: Sequence(sequence),
        unit: Sequence(sequence),
        create_time: Timestamp(0),
        turn: 1,
        tokens: 4 + o200k().count(content),
        id: UtteranceId::Assigned(LineageId([0; 16])),
        role,
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: content.into(),
        more: None,
    }
}
