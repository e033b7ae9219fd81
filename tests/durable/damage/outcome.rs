//! What comes of a damaged store.

use std::fmt::{self, Display, Formatter};

/// What comes of a damaged store. In texts `DIR` is its directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It answers what it did, and goes on.
    Right,
    /// It does not open: why.
    Refused(String),
    /// It opens, and some answers are this error; all others are right.
    Failing(String),
    /// It answers something else, and `utterd verify` names this.
    Found(String),
    /// It answers what it did so many writes ago.
    Earlier(usize),
    /// It answers something else.
    Wrong(String),
    /// It does not answer.
    Hanging,
    /// It panics.
    Panicking(String),
}

impl Outcome {
    /// What it is called in a tally.
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

    /// Whether the store is refused because its mark tells of more than it holds.
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
