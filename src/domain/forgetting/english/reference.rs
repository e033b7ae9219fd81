//! References to places: "turn 4", "messages 3 to 7", "the third turn", "the last two turns".

use std::ops::RangeInclusive;

use crate::domain::forgetting::{
    Criterion, InstructionError,
    words::{self, Noun},
};

use super::{
    cursor::Cursor,
    number::{cardinal, digits, narrow, ordered, ordinal, span},
};

/// Some places.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    /// Turns by number.
    Turns(RangeInclusive<u32>),
    /// Positions in the window.
    Positions(RangeInclusive<u32>),
    /// Sequences.
    Sequences(RangeInclusive<u64>),
    /// The first turns, or the last.
    Counted(Criterion),
}

impl Reference {
    /// The utterances there.
    pub fn within(self) -> Criterion {
        match self {
            Self::Turns(range) => Criterion::Turn(range),
            Self::Positions(range) => Criterion::Position(range),
            Self::Sequences(range) => Criterion::Sequence(range),
            Self::Counted(criterion) => criterion,
        }
    }

    /// The utterances before it; none if it is no single place, or the first.
    pub fn before(self) -> Option<Criterion> {
        match self.single()? {
            Self::Turns(range) => Some(Criterion::BeforeTurn(*range.start())),
            Self::Positions(range) => {
                Some(Criterion::Position(1..=range.start().checked_sub(1).filter(|&n| n > 0)?))
            }
            Self::Sequences(range) => {
                Some(Criterion::Sequence(1..=range.start().checked_sub(1).filter(|&n| n > 0)?))
            }
            Self::Counted(_) => None,
        }
    }

    /// The utterances before it and there.
    pub fn through(self) -> Option<Criterion> {
        match self.single()? {
            Self::Turns(range) => Some(Criterion::BeforeTurn(range.start().checked_add(1)?)),
            Self::Positions(range) => Some(Criterion::Position(1..=*range.start())),
            Self::Sequences(range) => Some(Criterion::Sequence(1..=*range.start())),
            Self::Counted(_) => None,
        }
    }

    /// The utterances after it.
    pub fn after(self) -> Option<Criterion> {
        match self.single()? {
            Self::Turns(range) => Some(Criterion::AfterTurn(*range.start())),
            Self::Positions(range) => Some(Criterion::Position(range.start().checked_add(1)?..=u32::MAX)),
            Self::Sequences(range) => Some(Criterion::Sequence(range.start().checked_add(1)?..=u64::MAX)),
            Self::Counted(_) => None,
        }
    }

    /// The utterances there and after it.
    pub fn onwards(self) -> Option<Criterion> {
        match self.single()? {
            Self::Turns(range) => Some(Criterion::Turn(*range.start()..=u32::MAX)),
            Self::Positions(range) => Some(Criterion::Position(*range.start()..=u32::MAX)),
            Self::Sequences(range) => Some(Criterion::Sequence(*range.start()..=u64::MAX)),
            Self::Counted(_) => None,
        }
    }

    /// Itself, unless it is several places.
    pub fn single(self) -> Option<Self> {
        let single = match &self {
            Self::Turns(range) | Self::Positions(range) => range.start() == range.end(),
            Self::Sequences(range) => range.start() == range.end(),
            Self::Counted(_) => false,
        };
        single.then_some(self)
    }

    /// The places of `noun` from the first to the last number.
    fn new(
        cursor: &Cursor<'_>,
        start: usize,
        noun: Noun,
        (from, to): (u64, u64),
    ) -> Result<Self, InstructionError> {
        if noun == Noun::Sequence {
            return Ok(Self::Sequences(from..=to));
        }
        let range = narrow(cursor, start, from)?..=narrow(cursor, start, to)?;
        Ok(if noun == Noun::Turn { Self::Turns(range) } else { Self::Positions(range) })
    }
}

/// Consumes a reference.
///
/// # Errors
/// Numbers that are none, reversed or with gaps.
pub(super) fn reference(cursor: &mut Cursor<'_>) -> Result<Option<Reference>, InstructionError> {
    let start = cursor.at();
    if let Some(found) = underscored(cursor)? {
        return Ok(Some(found));
    }
    cursor.word("the");
    if let Some(found) = counted_turns(cursor)? {
        return Ok(Some(Reference::Counted(found)));
    }
    if let Some(number) = ordinal(cursor)?
        && let Some(noun @ (Noun::Turn | Noun::Message)) = place_noun(cursor)
    {
        return Reference::new(cursor, start, noun, (number, number)).map(Some);
    }
    cursor.back(start);
    cursor.word("the");
    if let Some(noun) = place_noun(cursor)
        && let Some(numbers) = numbered(cursor, noun)?
    {
        return Reference::new(cursor, start, noun, numbers).map(Some);
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes what "between" takes: "turn 2 and turn 4", "messages 3 and 7".
pub(super) fn pair(cursor: &mut Cursor<'_>) -> Result<Option<Reference>, InstructionError> {
    let start = cursor.at();
    cursor.word("the");
    if let Some(noun) = place_noun(cursor)
        && let Some(from) = cardinal(cursor)?
        && cursor.any(&["and", "to"])
    {
        repeated(cursor, noun);
        if let Some(to) = cardinal(cursor)? {
            let range = ordered(cursor, start, from, to)?;
            return Reference::new(cursor, start, noun, range).map(Some);
        }
    }
    cursor.back(start);
    Ok(None)
}

/// Consumes the numbers after a noun.
pub(super) fn numbered(cursor: &mut Cursor<'_>, noun: Noun) -> Result<Option<(u64, u64)>, InstructionError> {
    let start = cursor.at();
    cursor.any(&["number", "numbers"]);
    let numbers = span(cursor, |cursor| repeated(cursor, noun))?;
    if numbers.is_none() {
        cursor.back(start);
    }
    Ok(numbers)
}

/// Consumes "first two turns", "last turn".
fn counted_turns(cursor: &mut Cursor<'_>) -> Result<Option<Criterion>, InstructionError> {
    let start = cursor.at();
    let Some(oldest) = words::end(cursor.peek_word()) else { return Ok(None) };
    cursor.advance();
    let count = cardinal(cursor)?;
    let wanted = if count.is_some() { ["turn", "turns"] } else { ["turn", "turn"] };
    if !cursor.any(&wanted) {
        cursor.back(start);
        return Ok(None);
    }
    let count = narrow(cursor, start, count.unwrap_or(1))?;
    Ok(Some(if oldest { Criterion::FirstTurns(count) } else { Criterion::LastTurns(count) }))
}

/// Consumes `turn_4`.
pub(super) fn underscored(cursor: &mut Cursor<'_>) -> Result<Option<Reference>, InstructionError> {
    let Some(number) = cursor.peek_word().strip_prefix("turn_").and_then(digits) else {
        return Ok(None);
    };
    let start = cursor.at();
    cursor.advance();
    let range = ordered(cursor, start, number, number)?;
    Reference::new(cursor, start, Noun::Turn, range).map(Some)
}

/// Consumes a noun that numbers can follow.
fn place_noun(cursor: &mut Cursor<'_>) -> Option<Noun> {
    let (noun, _) = words::noun(cursor.peek_word())?;
    let place = matches!(noun, Noun::Turn | Noun::Message | Noun::Position | Noun::Sequence);
    if place {
        cursor.advance();
    }
    place.then_some(noun)
}

/// Passes over `noun` where it is said again: "turn 2 to turn 4".
fn repeated(cursor: &mut Cursor<'_>, noun: Noun) {
    if words::noun(cursor.peek_word()).is_some_and(|(again, _)| again == noun) {
        cursor.advance();
        cursor.word("number");
    }
}
