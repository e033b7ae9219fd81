//! One thing that a call did, and how it ended.

/// One thing that a call did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The tool, or the program with what it was to do: `cancel_reservation`, `git commit`, `sed -i`.
    pub tool: Box<str>,
    /// What it works on, each on its own: files, ids, or other arguments that say which.
    pub objects: Vec<Box<str>>,
    /// Whether it changed something, if it worked.
    pub changed: bool,
    /// The command, if it tests, builds, lints or runs something.
    pub check: Option<Box<str>>,
    /// Whether it tests, builds or lints, rather than only runs something.
    pub tests: bool,
    /// What a check says of itself when all is well: `23 passed`.
    pub passed: Option<Box<str>>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It worked.
    Ok,
    /// The line that says what failed, of at most 300 bytes; a cut one ends in `…`.
    Failed(Box<str>),
    /// It was not made: the user rejected it, or it had not the form of a call.
    Declined,
    /// Nothing answered it.
    Unanswered,
}
