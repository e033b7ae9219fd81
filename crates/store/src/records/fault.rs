//! Errors in records.

use std::fmt;

/// An unreadable record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{record}: {fault}")]
pub struct BadRecord {
    /// A readable form of its kind and key: `utterance 01JD2Q6V7E8G9HAJBKCMDNEPFQ-17`.
    pub record: Box<str>,
    /// The fault.
    pub fault: Fault,
}

/// Why a record is not readable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A newer version of the program wrote a record of an unknown kind.
    #[error("a newer version of utterd wrote it: kind {0} is unknown")]
    NewerKind(u8),
    /// A newer version of the program wrote the record, in a newer version of its kind.
    #[error("a newer version of utterd wrote it: the record's version is {found}; expected {known}")]
    NewerVersion {
        /// The record's version.
        found: u8,
        /// The version that this program reads.
        known: u8,
    },
    /// The value is not the one that was written under this key.
    #[error("the checksum is wrong: the value is damaged, or belongs to another key")]
    Checksum,
    /// A part of the key or of the value is invalid.
    #[error("{part} {problem}")]
    Wrong {
        /// The part.
        part: &'static str,
        /// The problem; continues the sentence.
        problem: Box<str>,
    },
}

impl Fault {
    /// `part` is invalid: `problem` continues the sentence.
    pub(super) fn wrong(part: &'static str, problem: impl fmt::Display) -> Self {
        Self::Wrong { part, problem: problem.to_string().into() }
    }
}
