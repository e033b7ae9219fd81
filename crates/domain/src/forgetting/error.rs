//! The errors for instructions that are refused.

use std::fmt;

use crate::limits::MAX_INSTRUCTION_BYTES;

/// The accepted forms on one line, for error messages.
const FORMS: &str = "valid forms: oldest, newest, first:N, last:N, last:N_turns, position:N, before:turn_N, \
after:turn_N, turn:N, speaker:system|user|assistant|tool, name:NAME, sequence:N, id:ID, since:TIME, before:TIME, \
about:TEXT, all, nth:N, where N for turns, positions, numbers and sequences can be N-M, N- or a list such as 2,5-7, a TIME is \
2026-11-20 or 2026-11-20T10:00:00Z, and about:\"A\",\"B\" looks for either; or several of these together, A or B, A except B; or one plain \
English sentence, such as \"forget what the user said before turn 5\"";

/// The most characters of the input to show in an error.
const SHOWN: usize = 80;

/// What the parser of instructions returns.
pub type Result<T, E = InstructionError> = std::result::Result<T, E>;

/// The reason an instruction is refused. The text follows the name of the field that contained it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstructionError {
    /// The text is empty or blank.
    #[error("is empty; {FORMS}")]
    Empty,
    /// The text's length in bytes, which exceeds [`MAX_INSTRUCTION_BYTES`].
    #[error("has {0} bytes; at most {MAX_INSTRUCTION_BYTES} are accepted")]
    TooLong(usize),
    /// The text cannot be understood from these words on.
    #[error("is not understood from {0:?} on{1}; {FORMS}")]
    NotUnderstood(String, Suggested),
    /// A part is understood but not acceptable.
    #[error("{part:?}: {why}{suggested}; {FORMS}")]
    Part {
        /// The part as written.
        part: String,
        /// What is wrong with it, and what to write instead.
        why: &'static str,
        /// Short forms of what might be meant.
        suggested: Suggested,
    },
}

/// For logs: omits the text itself.
impl fmt::Debug for InstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::TooLong(_) => "TooLong",
            Self::NotUnderstood(..) => "NotUnderstood",
            Self::Part { .. } => "Part",
        })
    }
}

/// Short forms of what might be meant; can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggested(Vec<String>);

impl fmt::Display for Suggested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "; perhaps {}", self.0.join(" or ")) }
    }
}

impl InstructionError {
    /// Nothing can be understood from `rest` on.
    pub(super) fn not_understood(rest: &str) -> Self {
        Self::NotUnderstood(shown(rest), Suggested::default())
    }

    /// `part` is not acceptable because of `why`, which also says what to write instead.
    pub(super) fn part(part: &str, why: &'static str) -> Self {
        Self::Part { part: shown(part), why, suggested: Suggested::default() }
    }

    /// The same reason to refuse another part.
    pub(super) fn of(self, part: &str) -> Self {
        match self {
            Self::Part { why, suggested, .. } => Self::Part { part: shown(part), why, suggested },
            other => other,
        }
    }

    /// Adds short forms of what might be meant.
    #[must_use]
    pub(super) fn suggesting(mut self, forms: impl IntoIterator<Item = String>) -> Self {
        if let Self::NotUnderstood(_, suggested) | Self::Part { suggested, .. } = &mut self {
            suggested.0.extend(forms.into_iter().filter(|form| form.len() <= SHOWN));
        }
        self
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
