//! What a forget instruction selects, and its short form.

use crate::{
    Role, Timestamp,
    forgetting::{InstructionError, Numbers, Result},
    limits::{MAX_PARTS, MAX_TOPICS},
};

/// What a forget instruction selects: the utterances that any of its parts selects, except its exceptions.
///
/// Its `Display` output is the short form, which [`parse`](super::parse) reads back to the same instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    parts: Vec<Part>,
    except: Vec<Part>,
}

/// The utterances that meet every criterion, or some of them, counted from one end.
///
/// Has at least one criterion or a count, no two criteria of the same kind, and no contradictory ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    criteria: Vec<Criterion>,
    take: Option<Take>,
}

/// One condition on an utterance. All numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Everything stored; allowed only alone.
    All,
    /// The utterance with this id; allowed only alone.
    Id(String),
    /// These sequences.
    Sequence(Numbers),
    /// These positions in the window, 1 being the oldest.
    Position(Numbers),
    /// Said by this role.
    Speaker(Role),
    /// Said by the participant or tool of this name, exactly as the caller wrote it.
    Name(String),
    /// In these turns.
    Turn(Numbers),
    /// In one of this many lowest stored turn numbers, counting from turn 1.
    FirstTurns(u32),
    /// In one of this many highest stored turn numbers, counting from turn 1.
    LastTurns(u32),
    /// In a turn later than this one.
    AfterTurn(u32),
    /// In a turn earlier than this one; turn 0, before the first user utterance, counts.
    BeforeTurn(u32),
    /// Said at this time or later.
    Since(Timestamp),
    /// Said before this time.
    Before(Timestamp),
    /// Contains all terms of one of these texts, each of which has a letter or a digit.
    About(Vec<String>),
}

/// Which of the utterances that meet the criteria to take, among those not forgotten; counts from 1. Without
/// criteria, they are taken from the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// This many of the oldest.
    Oldest(u32),
    /// This many of the newest.
    Newest(u32),
    /// Those with these numbers, the oldest being 1.
    Nth(Numbers),
}

impl Instruction {
    /// Creates an instruction that selects what any of `parts` selects, except what any of `except` selects.
    ///
    /// ```
    /// use utterd_domain::{Role, forgetting::{Criterion, Instruction, Part, Take}};
    ///
    /// let part = Part::new([Criterion::Speaker(Role::Tool)], Some(Take::Newest(3)));
    /// let instruction = Instruction::of(vec![part], Vec::new())?;
    /// assert_eq!(instruction.to_string(), "speaker:tool last:3");
    /// let all = Part::new([Criterion::All], Some(Take::Newest(3)));
    /// assert!(Instruction::of(vec![all], Vec::new()).is_err());
    /// # Ok::<(), utterd_domain::forgetting::InstructionError>(())
    /// ```
    ///
    /// # Errors
    /// No parts, too many, or `all` together with other parts or as an exception; in a part, neither a criterion nor a
    /// count, a zero, a reversed range, an empty text, two criteria of the same kind, or criteria that no utterance can
    /// meet together.
    pub fn of(parts: Vec<Part>, except: Vec<Part>) -> Result<Self> {
        let instruction = Self::checked(parts, except);
        instruction.check()?;
        Ok(instruction)
    }

    /// Creates an instruction from parts already checked.
    pub(super) fn checked(parts: Vec<Part>, except: Vec<Part>) -> Self {
        Self { parts, except }
    }

    /// The parts, any of which selects.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The parts whose utterances stay.
    pub fn except(&self) -> &[Part] {
        &self.except
    }

    /// Whether it is everything stored with exceptions.
    pub fn is_remainder(&self) -> bool {
        !self.except.is_empty() && self.parts.iter().all(Part::is_all)
    }

    /// Checks each part, and all of them together.
    pub(super) fn check(&self) -> Result<()> {
        let all = || self.parts.iter().chain(&self.except);
        if self.parts.is_empty() {
            return Err(InstructionError::Empty);
        }
        all().try_for_each(Part::check)?;
        let refused = |why| Err(InstructionError::part(&self.to_string(), why));
        let texts = |one: &Criterion| if let Criterion::About(texts) = one { texts.len() } else { 0 };
        let texts: usize = all().flat_map(|part| &part.criteria).map(texts).sum();
        if all().count() > MAX_PARTS || texts > MAX_TOPICS {
            return refused("too much at once; send an instruction for each");
        }
        let joined = self.parts.len() > 1 && self.parts.iter().any(Part::is_all);
        match joined || self.except.iter().any(Part::is_all) {
            true => refused("all means everything stored, and cannot be combined"),
            false => Ok(()),
        }
    }
}

impl Part {
    /// Creates a part, which is checked when it becomes one of an instruction. Blanks around texts are
    /// dropped.
    pub fn new(criteria: impl IntoIterator<Item = Criterion>, take: Option<Take>) -> Self {
        let mut criteria: Vec<_> = criteria.into_iter().map(Criterion::trimmed).collect();
        criteria.sort_by_key(Criterion::rank);
        Self { criteria, take }
    }

    /// The conditions, at most one of each kind, in the order of [`Criterion`]'s variants.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// Which of the utterances to take; all of them if `None`.
    pub fn take(&self) -> Option<&Take> {
        self.take.as_ref()
    }

    /// Whether it selects everything stored.
    pub fn is_all(&self) -> bool {
        self.criteria == [Criterion::All]
    }

    /// Checks that each criterion, and all of them together, make sense.
    fn check(&self) -> Result<()> {
        if self.criteria.is_empty() && self.take.is_none() {
            return Err(InstructionError::Empty);
        }
        self.criteria.iter().try_for_each(Criterion::check)?;
        match &self.take {
            Some(Take::Oldest(0) | Take::Newest(0)) => return Err(self.refused("a count must be at least 1")),
            Some(Take::Nth(numbers)) if numbers.exceeds(u32::MAX.into()) => {
                return Err(self.refused("the number is too large"));
            }
            _ => {}
        }
        if self.criteria.windows(2).any(|pair| pair[0].rank() == pair[1].rank()) {
            return Err(self.refused("two criteria of the same kind; send an instruction for each"));
        }
        self.check_alone()?;
        self.check_turns()?;
        self.check_times()
    }

    /// Checks that criteria allowed only alone are alone.
    fn check_alone(&self) -> Result<()> {
        let parts = self.criteria.len() + usize::from(self.take.is_some());
        match self.criteria.first() {
            Some(Criterion::All) if parts > 1 => {
                Err(self.refused("all means everything stored, and cannot be combined"))
            }
            Some(Criterion::Id(_)) if parts > 1 => {
                Err(self.refused("an id means one utterance, and cannot be combined"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that some turn can meet all criteria on turns.
    fn check_turns(&self) -> Result<()> {
        let (mut low, mut high, mut counted, mut fixed) = (0, u32::MAX, 0, 0);
        for criterion in &self.criteria {
            match criterion {
                Criterion::AfterTurn(turn) => low = low.max(turn.saturating_add(1)),
                Criterion::BeforeTurn(turn) => high = high.min(turn - 1),
                Criterion::FirstTurns(_) | Criterion::LastTurns(_) => counted += 1,
                Criterion::Turn(_) => {}
                _ => continue,
            }
            fixed += 1;
        }
        let meets = |criterion: &Criterion| match criterion {
            Criterion::Turn(turns) => turns.meets(low, high),
            _ => true,
        };
        if low > high || !self.criteria.iter().all(meets) {
            return Err(self.refused("no turn is in all of these"));
        }
        match counted > 0 && fixed > 1 {
            true => Err(self.refused("a count of turns cannot be combined with other turns")),
            false => Ok(()),
        }
    }

    /// Checks that some time can meet all criteria on times.
    fn check_times(&self) -> Result<()> {
        let time = |of: fn(&Criterion) -> Option<Timestamp>| self.criteria.iter().find_map(of);
        let since = time(|one| if let Criterion::Since(time) = one { Some(*time) } else { None });
        let before = time(|one| if let Criterion::Before(time) = one { Some(*time) } else { None });
        match since.zip(before).is_some_and(|(since, before)| since >= before) {
            true => Err(self.refused("no time is in both")),
            false => Ok(()),
        }
    }

    /// An error that refuses the whole part.
    fn refused(&self, why: &'static str) -> InstructionError {
        InstructionError::part(&self.to_string(), why)
    }
}

impl Criterion {
    /// The kind's position in the order in which criteria are written.
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
            Self::Since(_) => 11,
            Self::Before(_) => 12,
            Self::About(_) => 13,
        }
    }

    /// Trims the texts and removes repeated ones.
    pub(super) fn trimmed(self) -> Self {
        let trim = |text: String| text.trim().to_owned();
        match self {
            Self::Id(text) => Self::Id(trim(text)),
            Self::Name(text) => Self::Name(trim(text)),
            Self::About(texts) => {
                let mut trimmed: Vec<String> = Vec::with_capacity(texts.len());
                for text in texts.into_iter().map(trim) {
                    if !trimmed.contains(&text) {
                        trimmed.push(text);
                    }
                }
                Self::About(trimmed)
            }
            other => other,
        }
    }

    /// Checks that the criterion makes sense on its own.
    fn check(&self) -> Result<()> {
        let checked = match self {
            Self::Id(text) | Self::Name(text) if text.is_empty() => Err("the value is missing"),
            Self::About(texts) if texts.is_empty() => Err("the text to look for is missing"),
            Self::About(texts) if texts.len() > MAX_TOPICS => Err("too many texts at once"),
            Self::About(texts) if !texts.iter().all(|text| text.contains(char::is_alphanumeric)) => {
                Err("the text contains no word to look for")
            }
            Self::Turn(numbers) | Self::Position(numbers) if numbers.exceeds(u32::MAX.into()) => {
                Err("the number is too large")
            }
            Self::AfterTurn(0) | Self::BeforeTurn(0) => Err("turns count from 1"),
            Self::FirstTurns(0) | Self::LastTurns(0) => Err("a count must be at least 1"),
            _ => Ok(()),
        };
        checked.map_err(|why| InstructionError::part(&self.to_string(), why))
    }
}
