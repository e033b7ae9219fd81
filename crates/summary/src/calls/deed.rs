//! One thing that a call did, and how it ended.

use crate::calls::verbs::Does;

/// One thing that a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    /// The tool, or the program with what it was to do: `cancel_reservation`, `git commit`, `sed -i`.
    pub(crate) tool: String,
    /// What it works on, each on its own: files, ids, or other arguments that say which.
    pub(crate) objects: Vec<Box<str>>,
    pub(crate) does: Does,
    /// The command as it is written, if it tests, builds, lints or runs something.
    pub(crate) check: Option<String>,
    /// What a check says of itself when all is well: `23 passed`.
    pub(crate) passed: Option<Box<str>>,
    /// How it ended.
    pub(crate) outcome: Outcome,
}

impl Deed {
    /// A deed of which no outcome is known.
    pub(super) fn of(tool: impl Into<String>, objects: Vec<Box<str>>, does: Does) -> Self {
        let (check, passed, outcome) = (None, None, Outcome::Unanswered);
        Self { tool: tool.into(), objects, does, check, passed, outcome }
    }

    /// Whether it changed something, if it worked.
    pub(crate) fn changed(&self) -> bool {
        self.does == Does::Changes
    }

    /// Whether it runs a program whose output says how it ended.
    pub(super) fn runs(&self) -> bool {
        matches!(self.does, Does::Checks | Does::Runs | Does::Launches)
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It worked.
    Ok,
    /// The line that says what failed, of at most 300 bytes; a cut one ends in `…`.
    Failed(Box<str>),
    /// It was not made: the user rejected it, or it had not the form of a call.
    Declined,
    /// Nothing answered it.
    Unanswered,
}
