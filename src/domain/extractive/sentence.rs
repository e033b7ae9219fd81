//! A line of a summary.

use crate::domain::Sequence;

/// One line of a summary: who said it, and the sentence; or a tool call and how it ended; or what either names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The utterance that it is taken from; for a tool call, the one that made the call.
    /// (A call's line may quote the result: both are of one unit, and are forgotten together.)
    pub sequence: Sequence,
    /// The line, `\n` at its end and nowhere else.
    pub text: Box<str>,
    /// Exact tokens of `text`.
    pub tokens: u32,
    /// What it was worth among the sentences it was taken from; the more, the longer it stays.
    pub weight: u32,
}
