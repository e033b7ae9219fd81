//! What a sentence has said so far.

use crate::domain::forgetting::{Criterion, Instruction, InstructionError, Take};

/// Why a phrase that could be everything is refused when it is not one of the phrases that mean it.
pub(super) const NARROWER: &str = "say by whom, where or about what; or everything, for all of it";

/// Criteria and a count, as they are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    criteria: Vec<Criterion>,
    take: Option<Take>,
    /// Something was said that selects, and that no criterion expresses by itself.
    narrowed: bool,
}

impl Selection {
    /// One criterion.
    pub fn of(criterion: Criterion) -> Self {
        Self { criteria: vec![criterion], ..Self::default() }
    }

    /// Whether it is everything stored.
    pub fn is_all(&self) -> bool {
        self.criteria.contains(&Criterion::All)
    }

    /// Adds several criteria.
    pub fn add_all(&mut self, criteria: impl IntoIterator<Item = Criterion>) {
        criteria.into_iter().for_each(|criterion| self.add(criterion));
    }

    /// Adds a criterion; what was said already may be said again.
    pub fn add(&mut self, criterion: Criterion) {
        if !self.criteria.contains(&criterion) {
            self.criteria.push(criterion);
        }
    }

    /// Takes so many from one end.
    pub fn take(&mut self, take: Take) {
        self.take = Some(take);
    }

    /// Marks it as no longer everything.
    pub fn narrow(&mut self) {
        self.narrowed = true;
    }

    /// Whether no criterion was said.
    pub fn is_bare(&self) -> bool {
        self.criteria.is_empty()
    }

    /// Whether everything is meant: nothing was said that selects.
    pub fn is_everything(&self) -> bool {
        self.is_bare() && self.take.is_none() && !self.narrowed
    }

    /// Whether it can be one utterance only.
    pub fn is_single(&self) -> bool {
        self.criteria.iter().any(|criterion| match criterion {
            Criterion::Id(_) => true,
            Criterion::Position(range) => range.start() == range.end(),
            Criterion::Sequence(range) => range.start() == range.end(),
            _ => false,
        })
    }

    /// The instruction.
    pub fn instruction(self) -> Result<Instruction, InstructionError> {
        Instruction::new(self.criteria, self.take)
    }
}
