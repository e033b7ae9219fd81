//! What a forget instruction selects, and its short form.

use std::ops::RangeInclusive;

use crate::domain::{Role, forgetting::InstructionError};

/// What a forget instruction selects: the utterances that meet every criterion, or so many
/// of them from one end.
///
/// Holds at least one criterion or a count, no two criteria of one kind, and none that
/// contradict each other. Its display is the short form, which [`parse`](super::parse)
/// reads back to the same instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    criteria: Vec<Criterion>,
    take: Option<Take>,
}

/// One condition on an utterance. All numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Everything stored; stands alone.
    All,
    /// The utterance with this id; stands alone.
    Id(String),
    /// These sequences. A range that ends at the greatest number is open.
    Sequence(RangeInclusive<u64>),
    /// These positions in the window, 1 being the oldest. A range that ends at the greatest
    /// number is open.
    Position(RangeInclusive<u32>),
    /// Said by this role.
    Speaker(Role),
    /// Said by the participant or tool of this name, as the caller wrote it.
    Name(String),
    /// In these turns. A range that ends at the greatest number is open.
    Turn(RangeInclusive<u32>),
    /// In one of the so many lowest of the turn numbers from 1 that are stored.
    FirstTurns(u32),
    /// In one of the so many highest of the turn numbers from 1 that are stored.
    LastTurns(u32),
    /// In a later turn than this.
    AfterTurn(u32),
    /// In an earlier turn than this; turn 0, before the first user utterance, is one.
    BeforeTurn(u32),
    /// Holds all terms of this text, which has a letter or a digit.
    About(String),
}

/// So many of what the criteria select, from one end; at least 1. Without criteria, of the
/// window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The oldest ones.
    Oldest(u32),
    /// The newest ones.
    Newest(u32),
}

impl Instruction {
    /// An instruction of `criteria`, in any order, and a count. Blanks around texts are dropped.
    ///
    /// ```
    /// use utterd::domain::{Role, forgetting::{Criterion, Instruction, Take}};
    ///
    /// let speaker = Criterion::Speaker(Role::Tool);
    /// let instruction = Instruction::new([speaker], Some(Take::Newest(3)))?;
    /// assert_eq!(instruction.to_string(), "speaker:tool last:3");
    /// assert!(Instruction::new([Criterion::All], Some(Take::Newest(3))).is_err());
    /// # Ok::<(), utterd::domain::forgetting::InstructionError>(())
    /// ```
    ///
    /// # Errors
    /// Nothing to select by, a zero, a reversed range, an empty text, two criteria of one
    /// kind, or criteria that no utterance can meet together.
    pub fn new(
        criteria: impl IntoIterator<Item = Criterion>,
        take: Option<Take>,
    ) -> Result<Self, InstructionError> {
        let mut criteria: Vec<_> = criteria.into_iter().map(Criterion::trimmed).collect();
        criteria.sort_by_key(Criterion::rank);
        let instruction = Self { criteria, take };
        instruction.check()?;
        Ok(instruction)
    }

    /// Everything stored.
    pub fn all() -> Self {
        Self { criteria: vec![Criterion::All], take: None }
    }

    /// The conditions, each kind at most once, in the order of [`Criterion`]'s variants.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// How many of what the criteria select; all of it if absent.
    pub fn take(&self) -> Option<Take> {
        self.take
    }

    /// Whether each part, and all of them together, can be meant.
    fn check(&self) -> Result<(), InstructionError> {
        if self.criteria.is_empty() && self.take.is_none() {
            return Err(InstructionError::Empty);
        }
        self.criteria.iter().try_for_each(Criterion::check)?;
        if matches!(self.take, Some(Take::Oldest(0) | Take::Newest(0))) {
            return Err(self.refused("a count is at least 1"));
        }
        if self.criteria.windows(2).any(|pair| pair[0].rank() == pair[1].rank()) {
            return Err(self.refused("two criteria of one kind; send an instruction for each"));
        }
        self.check_alone()?;
        self.check_turns()
    }

    /// Whether what stands alone does.
    fn check_alone(&self) -> Result<(), InstructionError> {
        let parts = self.criteria.len() + usize::from(self.take.is_some());
        match self.criteria.first() {
            Some(Criterion::All) if parts > 1 => {
                Err(self.refused("all is everything stored, and stands alone"))
            }
            Some(Criterion::Id(_)) if parts > 1 => {
                Err(self.refused("an id is one utterance, and stands alone"))
            }
            _ => Ok(()),
        }
    }

    /// Whether some turn can meet all criteria on turns.
    fn check_turns(&self) -> Result<(), InstructionError> {
        let (mut low, mut high) = (0, u32::MAX);
        let (mut fixed, mut counted) = (0, 0);
        for criterion in &self.criteria {
            let (from, to) = match criterion {
                Criterion::Turn(turns) => (*turns.start(), *turns.end()),
                Criterion::AfterTurn(turn) => (turn.saturating_add(1), u32::MAX),
                Criterion::BeforeTurn(turn) => (0, turn - 1),
                Criterion::FirstTurns(_) | Criterion::LastTurns(_) => {
                    counted += 1;
                    continue;
                }
                _ => continue,
            };
            fixed += 1;
            (low, high) = (low.max(from), high.min(to));
        }
        if low > high {
            return Err(self.refused("no turn is in all of these"));
        }
        if counted > 1 || counted == 1 && fixed > 0 {
            return Err(self.refused("a count of turns stands without other turns"));
        }
        Ok(())
    }

    /// The whole instruction cannot be accepted.
    fn refused(&self, why: &'static str) -> InstructionError {
        InstructionError::part(&self.to_string(), why)
    }
}

impl Criterion {
    /// The place among the kinds, in the order in which they are written.
    fn rank(&self) -> u8 {
        match self {
            Self::All => 0,
            Self::Id(_) => 1,
            Self::Sequence(_) => 2,
            Self::Position(_) => 3,
            Self::Speaker(_) => 4,
            Self::Name(_) => 5,
            Self::Turn(_) => 6,
            Self::FirstTurns(_) => 7,
            Self::LastTurns(_) => 8,
            Self::AfterTurn(_) => 9,
            Self::BeforeTurn(_) => 10,
            Self::About(_) => 11,
        }
    }

    /// Itself, without blanks around its text.
    fn trimmed(self) -> Self {
        let trim = |text: String| text.trim().to_owned();
        match self {
            Self::Id(text) => Self::Id(trim(text)),
            Self::Name(text) => Self::Name(trim(text)),
            Self::About(text) => Self::About(trim(text)),
            other => other,
        }
    }

    /// Whether it can be meant by itself.
    fn check(&self) -> Result<(), InstructionError> {
        let range = |start: u64, end: u64| match (start, end) {
            (0, _) => Err("counts from 1"),
            (start, end) if start > end => Err("the range is reversed; write the smaller number first"),
            _ => Ok(()),
        };
        let checked = match self {
            Self::All | Self::Speaker(_) => Ok(()),
            Self::Id(text) | Self::Name(text) if text.is_empty() => Err("the value is missing"),
            Self::Id(_) | Self::Name(_) => Ok(()),
            Self::About(text) if !text.contains(char::is_alphanumeric) => {
                Err("the text holds no word to look for")
            }
            Self::About(_) => Ok(()),
            Self::Sequence(range_) => range(*range_.start(), *range_.end()),
            Self::Position(range_) => range((*range_.start()).into(), (*range_.end()).into()),
            Self::Turn(range_) if *range_.start() == 0 => {
                Err("turns count from 1; what precedes the first is before:turn_1")
            }
            Self::Turn(range_) => range((*range_.start()).into(), (*range_.end()).into()),
            Self::AfterTurn(0) | Self::BeforeTurn(0) => Err("turns count from 1"),
            Self::FirstTurns(0) | Self::LastTurns(0) => Err("a count is at least 1"),
            Self::AfterTurn(_) | Self::BeforeTurn(_) => Ok(()),
            Self::FirstTurns(_) | Self::LastTurns(_) => Ok(()),
        };
        checked.map_err(|why| InstructionError::part(&self.to_string(), why))
    }
}
