//! What a sentence has said so far.

use crate::domain::forgetting::{Asked, Criterion, InstructionError, Take, time::Stretch};

/// Why a phrase that could be everything is refused when it is not one of the phrases that mean it.
pub(super) const NARROWER: &str = "say by whom, where or about what; or everything, for all of it";

/// Criteria and a count, as they are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    criteria: Vec<Criterion>,
    take: Option<Take>,
    stretch: Option<Stretch>,
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

    /// Adds a time; whether it and what was said before can be meant together.
    pub fn add_time(&mut self, stretch: Stretch) -> bool {
        let both = match self.stretch {
            Some(before) => before.and(stretch),
            None => Some(stretch),
        };
        self.stretch = both.or(self.stretch);
        both.is_some()
    }

    /// Takes so many from one end.
    pub fn take(&mut self, take: Take) {
        self.take = Some(take);
    }

    /// Marks it as no longer everything.
    pub fn narrow(&mut self) {
        self.narrowed = true;
    }

    /// Whether neither a criterion nor a time was said.
    pub fn is_bare(&self) -> bool {
        self.criteria.is_empty() && self.stretch.is_none()
    }

    /// Whether everything is meant: nothing was said that selects.
    pub fn is_everything(&self) -> bool {
        self.is_bare() && self.take.is_none() && !self.narrowed
    }

    /// Whether it can be one utterance only.
    pub fn is_single(&self) -> bool {
        self.criteria.iter().any(|criterion| match criterion {
            Criterion::Id(_) => true,
            Criterion::Position(numbers) | Criterion::Sequence(numbers) => numbers.single().is_some(),
            _ => false,
        })
    }

    /// The instruction.
    pub fn asked(self) -> Result<Asked, InstructionError> {
        Asked::in_english(self.criteria, self.take, self.stretch.unwrap_or_default())
    }
}
