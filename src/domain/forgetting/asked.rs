//! An instruction as understood: what it selects depends on the time if it names one relative to now.

use crate::domain::{
    Timestamp,
    forgetting::{Criterion, Instruction, InstructionError, Take, time::Stretch},
};

/// An instruction that was understood. [`at`](Self::at) returns what it selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    criteria: Vec<Criterion>,
    take: Option<Take>,
    stretch: Stretch,
    is_english: bool,
}

impl Asked {
    /// Creates an instruction from plain English.
    ///
    /// # Errors
    /// As for [`Instruction::new`].
    pub(super) fn in_english(
        criteria: Vec<Criterion>,
        take: Option<Take>,
        stretch: Stretch,
    ) -> Result<Self, InstructionError> {
        let criteria = criteria.into_iter().map(Criterion::trimmed).collect();
        let asked = Self { criteria, take, stretch, is_english: true };
        // relative times keep their order at any time, so checking one moment is enough
        asked.at(Timestamp(0)).check()?;
        Ok(asked)
    }

    /// What the instruction selects if sent at `now`, whose UTC day is "today".
    pub fn at(&self, now: Timestamp) -> Instruction {
        let (since, before) = self.stretch.at(now);
        let times = since.map(Criterion::Since).into_iter().chain(before.map(Criterion::Before));
        Instruction::sorted(self.criteria.iter().cloned().chain(times).collect(), self.take)
    }

    /// Whether it was written in plain English: then it might select more than its author thinks.
    pub fn is_english(&self) -> bool {
        self.is_english
    }
}

impl From<Instruction> for Asked {
    /// Converts an instruction in its short form.
    fn from(instruction: Instruction) -> Self {
        let (criteria, take) = (instruction.criteria().to_vec(), instruction.take());
        Self { criteria, take, stretch: Stretch::default(), is_english: false }
    }
}
