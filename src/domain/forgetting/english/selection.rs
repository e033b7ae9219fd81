//! What a sentence has selected so far.

use crate::domain::forgetting::{Asked, Criterion, InstructionError, Take, time::Stretch};

/// The reason to refuse a phrase that could mean everything but is not one of the phrases reserved for it.
pub(super) const NARROWER: &str = "say by whom, where or about what; or say everything for all of it";

/// The criteria and the count read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Selection {
    criteria: Vec<Criterion>,
    take: Option<Take>,
    stretch: Option<Stretch>,
    /// The sentence narrows the selection in a way that no single criterion expresses.
    narrowed: bool,
}

impl Selection {
    /// A selection with one criterion.
    pub fn of(criterion: Criterion) -> Self {
        Self { criteria: vec![criterion], ..Self::default() }
    }

    /// Whether it selects everything stored.
    pub fn is_all(&self) -> bool {
        self.criteria.contains(&Criterion::All)
    }

    /// Adds several criteria.
    pub fn add_all(&mut self, criteria: impl IntoIterator<Item = Criterion>) {
        criteria.into_iter().for_each(|criterion| self.add(criterion));
    }

    /// Adds a criterion; repetitions are allowed.
    pub fn add(&mut self, criterion: Criterion) {
        if !self.criteria.contains(&criterion) {
            self.criteria.push(criterion);
        }
    }

    /// Adds a time; returns whether it is compatible with the time given before.
    pub fn add_time(&mut self, stretch: Stretch) -> bool {
        let both = match self.stretch {
            Some(before) => before.and(stretch),
            None => Some(stretch),
        };
        self.stretch = both.or(self.stretch);
        both.is_some()
    }

    /// Sets how many to take from one end.
    pub fn take(&mut self, take: Take) {
        self.take = Some(take);
    }

    /// Marks the selection as no longer everything.
    pub fn narrow(&mut self) {
        self.narrowed = true;
    }

    /// Whether neither a criterion nor a time was given.
    pub fn is_bare(&self) -> bool {
        self.criteria.is_empty() && self.stretch.is_none()
    }

    /// Whether nothing was said that selects, so that everything would be meant.
    pub fn is_everything(&self) -> bool {
        self.is_bare() && self.take.is_none() && !self.narrowed
    }

    /// Whether it can only be one utterance.
    pub fn is_single(&self) -> bool {
        self.criteria.iter().any(|criterion| match criterion {
            Criterion::Id(_) => true,
            Criterion::Position(numbers) | Criterion::Sequence(numbers) => numbers.single().is_some(),
            _ => false,
        })
    }

    /// Converts the selection to an instruction.
    pub fn asked(self) -> Result<Asked, InstructionError> {
        Asked::in_english(self.criteria, self.take, self.stretch.unwrap_or_default())
    }
}
