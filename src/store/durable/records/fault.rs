//! What is wrong with a record.

use std::fmt;

/// A record that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{record}: {fault}")]
pub struct BadRecord {
    /// Its kind and its key, for a person: `utterance 01JD2Q6V7E8G9HAJBKCMDNEPFQ-17`.
    pub record: Box<str>,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Why a record cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A later version of the program wrote a record of a kind that this one does not know.
    #[error("a newer version of utterd wrote it: kind {0} is not known")]
    NewerKind(u8),
    /// A later version of the program wrote a known kind in another way.
    #[error("a newer version of utterd wrote it: the record's version is {found}, known are 1 to {known}")]
    NewerVersion {
        /// The version that it has.
        found: u8,
        /// The newest that is known.
        known: u8,
    },
    /// The value is not what was written under this key.
    #[error("the checksum is wrong: the value is damaged, or belongs to another key")]
    Checksum,
    /// A part of the key or of the value is not what it may be.
    #[error("{part} {problem}")]
    Wrong {
        /// The part.
        part: &'static str,
        /// What is wrong with it.
        problem: Box<str>,
    },
}

impl Fault {
    /// `part` is not what it may be: `problem` goes on with the sentence.
    pub(super) fn wrong(part: &'static str, problem: impl fmt::Display) -> Self {
        Self::Wrong { part, problem: problem.to_string().into() }
    }
}
