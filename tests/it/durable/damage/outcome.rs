//! The outcome of opening a damaged store.

use std::fmt::{self, Display, Formatter};

/// The outcome of opening a damaged store. In texts, `DIR` is its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its answers are unchanged, and it works.
    Right,
    /// It does not open, for this reason.
    Refused(String),
    /// It opens, and some answers are this error; all others are unchanged.
    Failing(String),
    /// Some answer is different, and `utterd verify` reports this.
    Found(String),
    /// Its answers are those from this many writes ago.
    Earlier(usize),
    /// Some answer is different.
    Wrong(String),
    /// It does not answer.
    Hanging,
    /// It panics.
    Panicking(String),
}

impl Outcome {
    /// Its name in a tally.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Refused(_) => "refused",
            Self::Failing(_) => "failing",
            Self::Found(_) => "found by verify",
            Self::Earlier(_) => "earlier",
            Self::Wrong(_) => "wrong",
            Self::Hanging => "hanging",
            Self::Panicking(_) => "panicking",
        }
    }

    /// Whether the store is refused because its mark covers more than it holds.
    pub fn is_behind(&self) -> bool {
        matches!(self, Self::Refused(text) if text.contains("has lost writes"))
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text)
            | Self::Failing(text)
            | Self::Found(text)
            | Self::Wrong(text)
            | Self::Panicking(text) => {
                write!(f, "{}: {text}", self.name())
            }
            Self::Earlier(writes) => write!(f, "{writes} writes earlier"),
            Self::Right | Self::Hanging => write!(f, "{}", self.name()),
        }
    }
}
