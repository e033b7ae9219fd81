//! An instruction as understood: what it selects depends on the time if it names one relative to now.

use crate::{
    Timestamp,
    forgetting::{Criterion, Instruction, Part, Result, Take, time::Stretch},
};

/// An instruction that was understood. [`at`](Self::at) returns what it selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    parts: Vec<AskedPart>,
    except: Vec<AskedPart>,
    is_english: bool,
    means_one: bool,
}

/// A [`Part`] with a time that can be relative to now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedPart {
    pub criteria: Vec<Criterion>,
    pub take: Option<Take>,
    pub stretch: Stretch,
}

impl Asked {
    /// Creates an instruction from the short forms.
    ///
    /// # Errors
    /// As for [`Instruction::of`].
    pub(super) fn in_short(parts: Vec<AskedPart>, except: Vec<AskedPart>) -> Result<Self> {
        let asked = Self { parts, except, is_english: false, means_one: false };
        // relative times keep their order at any time, so checking one moment is enough
        asked.at(Timestamp(0)).check()?;
        Ok(asked)
    }

    /// Creates an instruction from plain English; `means_one` if the sentence speaks of one utterance without
    /// saying which.
    ///
    /// # Errors
    /// As for [`Instruction::of`].
    pub(super) fn in_english(parts: Vec<AskedPart>, except: Vec<AskedPart>, means_one: bool) -> Result<Self> {
        Ok(Self { is_english: true, means_one, ..Self::in_short(parts, except)? })
    }

    /// What the instruction selects if sent at `now`, whose UTC day is "today".
    pub fn at(&self, now: Timestamp) -> Instruction {
        let at = |parts: &[AskedPart]| parts.iter().map(|part| part.at(now)).collect();
        Instruction::checked(at(&self.parts), at(&self.except))
    }

    /// Whether it was written in plain English: then it might select more than its author thinks.
    pub fn is_english(&self) -> bool {
        self.is_english
    }

    /// Whether it speaks of one utterance without saying which, as in "the message about Paris".
    pub fn means_one(&self) -> bool {
        self.means_one
    }
}

impl AskedPart {
    pub fn at(&self, now: Timestamp) -> Part {
        let (since, before) = self.stretch.at(now);
        let times = since.map(Criterion::Since).into_iter().chain(before.map(Criterion::Before));
        Part::new(self.criteria.iter().cloned().chain(times), self.take.clone())
    }
}
