//! The content of a store, and its problems.

use std::fmt::{self, Display};

use crate::records::Record;

/// The maximum number of problems that a report lists. Further ones are only counted.
pub const MAX_PROBLEMS: usize = 1_000;

/// The content of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of conversations.
    pub conversations: u64,
    /// Number of utterances, in windows and archives.
    pub utterances: u64,
    /// Number of segments of summaries.
    pub segments: u64,
    /// Number of outcomes of calls.
    pub outcomes: u64,
    /// Number of records of all kinds.
    pub records: u64,
    /// The first [`MAX_PROBLEMS`] problems.
    pub problems: Vec<Problem>,
    /// Number of further problems.
    pub more_problems: u64,
}

impl Report {
    /// Adds a problem with `subject`.
    pub(super) fn add(&mut self, subject: impl Display, what: impl Display) {
        match self.problems.len() < MAX_PROBLEMS {
            true => {
                let (subject, what) = (subject.to_string().into(), what.to_string().into());
                self.problems.push(Problem { subject, what });
            }
            false => self.more_problems += 1,
        }
    }

    /// Counts what a record holds.
    pub(super) fn count(&mut self, record: &Record) {
        match record {
            Record::ConversationName(key, _) => self.conversations += u64::from(!key.id.is_of_state()),
            Record::Utterances(..) => self.utterances += 1,
            Record::Segments(..) => self.segments += 1,
            Record::Outcomes(..) => self.outcomes += 1,
            _ => {}
        }
    }
}

/// A problem, described in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The subject, such as `conversation default/demo`.
    pub subject: Box<str>,
    /// The problem.
    pub what: Box<str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.what)
    }
}
