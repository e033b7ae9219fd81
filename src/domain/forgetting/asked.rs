//! An instruction as it was asked for: what it selects depends on the time if it tells one from now.

use crate::domain::{
    Timestamp,
    forgetting::{Criterion, Instruction, InstructionError, Take, time::Stretch},
};

/// An instruction that was understood. [`at`](Self::at) says what it selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    criteria: Vec<Criterion>,
    take: Option<Take>,
    stretch: Stretch,
    is_english: bool,
}

impl Asked {
    /// An instruction in plain English.
    ///
    /// # Errors
    /// As [`Instruction::new`] has it.
    pub(super) fn in_english(
        criteria: Vec<Criterion>,
        take: Option<Take>,
        stretch: Stretch,
    ) -> Result<Self, InstructionError> {
        let criteria = criteria.into_iter().map(Criterion::trimmed).collect();
        let asked = Self { criteria, take, stretch, is_english: true };
        // what is told from now is in order at any time, so that one tells as much as another
        asked.at(Timestamp(0)).check()?;
        Ok(asked)
    }

    /// What is selected when it is asked for at `now`, whose UTC day is "today".
    pub fn at(&self, now: Timestamp) -> Instruction {
        let (since, before) = self.stretch.at(now);
        let times = since.map(Criterion::Since).into_iter().chain(before.map(Criterion::Before));
        Instruction::sorted(self.criteria.iter().cloned().chain(times).collect(), self.take)
    }

    /// Whether it was said in plain English: it may select more than whoever says it thinks.
    pub fn is_english(&self) -> bool {
        self.is_english
    }
}

impl From<Instruction> for Asked {
    /// An instruction in its short form.
    fn from(instruction: Instruction) -> Self {
        let (criteria, take) = (instruction.criteria().to_vec(), instruction.take());
        Self { criteria, take, stretch: Stretch::default(), is_english: false }
    }
}
