//! The figures of a run.

use std::{fmt, ops::AddAssign};

/// What was done and found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often the server was started on what a crash had left.
    pub crashes: usize,
    /// Calls that were answered before a crash.
    pub acknowledged: usize,
    /// Unanswered calls that had taken effect.
    pub unanswered_stored: usize,
    /// Unanswered calls that had not.
    pub unanswered_lost: usize,
    /// Repeated answered calls that returned their first outcome.
    pub replayed: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.crashes += other.crashes;
        self.acknowledged += other.acknowledged;
        self.unanswered_stored += other.unanswered_stored;
        self.unanswered_lost += other.unanswered_lost;
        self.replayed += other.replayed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} crashes, {} acknowledged writes, all there; of those without an answer {} had been stored and \
             {} not; {} retries of acknowledged ones replayed",
            self.crashes, self.acknowledged, self.unanswered_stored, self.unanswered_lost, self.replayed
        )
    }
}
