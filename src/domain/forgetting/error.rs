//! Why an instruction is refused.

use crate::domain::limits::MAX_INSTRUCTION_BYTES;

/// The forms, on one line, for an error to show.
const FORMS: &str = "accepted are oldest, newest, first:N, last:N, last:N_turns, position:N, N-M or N-, \
before:turn_N, after:turn_N, turn:N, N-M or N-, speaker:system|user|assistant|tool, name:NAME, \
sequence:N, N-M or N-, id:ID, about:TEXT, all; several of these together; or one plain English \
sentence for the same, such as \"forget what the user said before turn 5\"";

/// Most characters of the input that an error shows.
const SHOWN: usize = 80;

/// Why an instruction is refused. The text follows the name of the field that held it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstructionError {
    /// There is nothing but blanks.
    #[error("is empty; {FORMS}")]
    Empty,
    /// The text has so many bytes, which is more than [`MAX_INSTRUCTION_BYTES`].
    #[error("has {0} bytes; at most {MAX_INSTRUCTION_BYTES} are accepted")]
    TooLong(usize),
    /// The text is not understood from these words on.
    #[error("is not understood from {0:?} on; {FORMS}")]
    NotUnderstood(String),
    /// A part is understood, and cannot be accepted.
    #[error("{part:?}: {why}; {FORMS}")]
    Part {
        /// The part, as it was written.
        part: String,
        /// What is wrong with it, and what to write instead.
        why: &'static str,
    },
}

impl InstructionError {
    /// Nothing is understood from `rest` on.
    pub(super) fn not_understood(rest: &str) -> Self {
        Self::NotUnderstood(shown(rest))
    }

    /// `part` cannot be accepted because of `why`, which says what to write instead.
    pub(super) fn part(part: &str, why: &'static str) -> Self {
        Self::Part { part: shown(part), why }
    }
}

/// The first [`SHOWN`] characters of `text`.
fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
