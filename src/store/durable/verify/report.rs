//! What a store was found to hold, and what is wrong with it.

use std::fmt;

/// Problems that a report tells of one by one; of more, the number is told.
pub const MAX_PROBLEMS: usize = 1_000;

/// What a store was found to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Conversations.
    pub conversations: u64,
    /// Utterances, in windows and archives.
    pub utterances: u64,
    /// Segments of summaries.
    pub segments: u64,
    /// Outcomes of calls.
    pub outcomes: u64,
    /// Records of all kinds.
    pub records: u64,
    /// What is wrong: the first [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// How many more problems there are.
    pub more_problems: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Something that is wrong, told in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is about, such as `conversation default/demo`.
    pub subject: Box<str>,
    /// What is wrong with it.
    pub what: Box<str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.what)
    }
}
